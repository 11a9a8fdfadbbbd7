"""HTTP bodies and header fields without I/O: content encodings, strict JSON, and how upstreams fail.

Routes live in `gateway.api`, clients in `gateway.surfaces`.
"""
