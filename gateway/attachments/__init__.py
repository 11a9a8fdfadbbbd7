"""Turns attached files into text, complete or not at all: each kind of file is one module of `kinds/`.

A process of its own reads each file (`worker.py`), without files, network or other processes (`isolation.py`);
`converter.py` starts it, and ends it when it takes too long. Nothing is written to a disk.
"""
