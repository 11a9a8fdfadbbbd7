"""Numbers that states and their offices give out: one table a region, read by `government_numbers.py`.

A row says what a number looks like, which check it must pass, how sure form and check alone make us, and the
words that announce it. To add one, add a row.
"""
