"""One module per family of recognizers, each with a `RECOGNIZERS` tuple. Discovery finds new modules.

Modules with a leading underscore contain vocabulary and checks that families share. See docs/adding-a-recognizer.md.
"""
