"""Divides a text into protected compartments for separate processing, and describes how to join the results.

segmentation  divides a text into blocks, and blocks into sentences
units         where the text may be divided
assignment    which part goes where
splitter      protects and builds: text, findings and a session key -> compartments, outline, values
outline       how to put the parts together again

docs/sharding.md states the leak model.
"""
