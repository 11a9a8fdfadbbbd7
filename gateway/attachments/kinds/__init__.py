"""One module for each kind of file. Each defines `KIND`.

What several kinds need is in the package above: archives, HTML, tables, encodings.
"""
