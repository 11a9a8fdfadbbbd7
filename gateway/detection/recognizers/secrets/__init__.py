"""Secrets nobody has a form for, and keys without a vendor. Each module is a table of rules: `_locator` runs them,
`_value_classifier` judges what they locate, `_vocabulary` holds the words. Vendors' keys are in `../keys_*.py`.
"""
