"""Messages between the listener process and the gateway process, and the calls that carry them.

The only part of the gateway that the addons talk to.
"""
