"""One file per family of recognizers, each with its `RECOGNIZERS`; adding a file is enough to add one.

Modules with a leading underscore hold vocabulary and checks that families share. See docs/adding-a-recognizer.md.
"""
