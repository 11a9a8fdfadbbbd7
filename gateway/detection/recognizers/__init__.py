"""One file per family of recognizers, each with its `RECOGNIZERS`. Dropping a file in is all it takes; see
docs/adding-a-recognizer.md.

Files with a leading underscore hold word lists and checks that families share.
"""
