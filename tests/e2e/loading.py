"""Loads all that `run_proxy.py` would load, in the process that `tests.e2e.preloaded` forks programs from."""

import gc
import os
from functools import partial
from importlib import import_module

from cryptography.hazmat.primitives import serialization

# Either library would start threads when it is imported, and a process that forks should have one.
os.environ |= {"ORT_DISABLE_TELEMETRY": "1", "OPENBLAS_NUM_THREADS": "1"}

# Some of these are only needed once the event loop or the application runs.
late = ("anyio._backends._asyncio", "httpcore", "pydantic.v1", "gateway.detection.ner.builtin")
for name in ("addons.server", "gateway.api.app", "gateway.server.dispatcher", *late):
    import_module(name)
import_module("run_proxy")._parser("--help")  # loads the modules of the commands
import_module("gateway.api.app").create_app()  # makes the routes
import_module("gateway.detection").builtin_detector().check()  # builds the automata, which programs then share
# Every start reads the authority of the tests three times, and each check of its primes takes 50 ms.
serialization.load_pem_private_key = partial(serialization.load_pem_private_key, unsafe_skip_rsa_key_validation=True)
# All objects so far stay; no collection in a forked process need walk and thereby copy it.
gc.collect()
gc.freeze()
