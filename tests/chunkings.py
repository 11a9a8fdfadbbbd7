"""How thoroughly the tests of streamed answers cut them: `CHUNKINGS=10000 make test ARGS=tests/gateway` tries all."""

import os

ALL = "CHUNKINGS" in os.environ
CHUNKINGS = int(os.environ.get("CHUNKINGS", "150"))
"""Random chunkings of the answer of each wire."""
STEP = 1 if ALL else 7
"""Bytes between the places at which a body is cut in two, where that takes long."""
