"""Numbers that authorities issue: one table per region, used by `government_numbers.py`.

A row contains the forms of a number, its validator, the score without context, and the words that announce it. To add a
number, add a row.
"""
