"""Loads all that `run_proxy.py` would load, in the process that `tests.e2e.preloaded` forks programs from."""

import gc
import os

# Either library would start threads when it is imported, and a process that forks should have one.
os.environ |= {"ORT_DISABLE_TELEMETRY": "1", "OPENBLAS_NUM_THREADS": "1"}

import run_proxy
from gateway.detection import builtin_detector

run_proxy._parser("ca")  # loads the modules of all commands
builtin_detector()
# What is here stays; no collection in a forked process need walk and thereby copy it.
gc.collect()
gc.freeze()
