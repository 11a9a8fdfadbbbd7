"""Finds secrets that have no form of their own, by what announces them: words, names, commands, columns.

Each module is a table of rules. `_locator` runs them, `_value_classifier` judges the values they locate, `_vocabulary`
holds the words. Keys with a vendor's form are in `../keys_*.py`.
"""
