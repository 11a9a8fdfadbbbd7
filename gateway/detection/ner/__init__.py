"""Finds persons, places and organisations with an embedded model.

    features    what the model sees besides word pieces
    windows     splits a text into overlapping windows of word pieces
    inference   runs the model on threads of its own
    spans       turns token labels into spans
    types       maps the model's labels to entity types
    engine      the engine that `gateway.detection.engines` calls

Training lives in `training/`; names announced by context are found by `recognizers/person_name.py`.
"""

from gateway.detection.ner.engine import NameFinder, TokenClassifier

__all__ = ["NameFinder", "TokenClassifier"]
