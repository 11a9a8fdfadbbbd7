"""Defines and discovers model surfaces, which answer protected requests. Each file defines one kind.

base      what every surface can do, and which of all configured ones serves a model name
demo      `svc-demo`, built in and deterministic
upstream  a configured provider, reached over HTTP
chunks    an answer as a stream

`gateway.wires` parses the requests of a protocol.
"""
