"""Finds secrets that have no form of their own, by their context: a name, words, a command, a column.

The rules are tables: `*.toml`, run by `_locator`. `_value_checks` decides on the values they locate, with what
`_value_classifier` knows about values; `vocabulary.toml` holds the words. Keys of a vendor's form: `../keys.py`.
"""
