"""Wire protocols: which parts of a request and an answer are text. One file each; discovery finds it.

Wires parse and describe; protecting and restoring is done by `gateway.exchange`.
"""
