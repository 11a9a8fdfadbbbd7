"""Random inputs for every parser: each gives a result or one of the gateway's errors, which repeats no value.

    python -m tests.fuzz [--seconds 60] [--only bodies,streams] [--seed 1]

`make test` runs a few cases of each target. The command runs for `--seconds`, with larger inputs, and also reports
inputs that take long for their size. A failing case is reported with its seed, which repeats it.
"""
