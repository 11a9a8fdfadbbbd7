"""How thoroughly the tests of streamed answers cut them: `CHUNKINGS=10000 make test ARGS=tests/gateway` tries all."""

import os

ALL = "CHUNKINGS" in os.environ
CHUNKINGS = int(os.environ.get("CHUNKINGS", "150"))
"""Random chunkings of the answer of each wire."""
