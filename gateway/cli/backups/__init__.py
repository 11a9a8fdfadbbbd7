"""Backups of an installation while it runs, and their restoration.

archive     the file: a tar with a manifest
create      copies what belongs together, verifies the copy and writes the file
restore     verifies a file, then puts what it holds in place, or nothing
"""
