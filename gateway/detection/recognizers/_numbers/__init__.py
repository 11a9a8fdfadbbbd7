"""Numbers that authorities issue: one table (TOML) for each region, used by `government_numbers.py`.

A row is described in `number.py`. To add a number, add a row.
"""
