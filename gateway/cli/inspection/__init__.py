"""`inspect`: runs a program through a gateway of its own, and shows what providers received.

private_gateway  that gateway: its settings, store and process
program          runs the program, and passes signals and its status through
watched          the process between them on Linux, which reports connections past the gateway
records          what the gateway tells: requests, refusals, tunnels
sent_texts       the texts in a protected request, by role
forbidden        searches what was sent for values that must not be
spellings        the spellings in which it looks for them
report           prints all this, as text or JSON

What tells it, in the gateway's process, is `addons/witness.py`. The command itself is `gateway/cli/inspect.py`.
"""
