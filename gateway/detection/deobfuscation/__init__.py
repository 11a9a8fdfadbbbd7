"""Undoes what hides a value from detection: encodings, spacing, line breaks, markup. See docs/detection.md.

Each form is one module with a `DEOBFUSCATION`, listed in `search.py`. Recognizers never decode anything themselves.
"""
