"""Named entity recognition: finds persons, places and organizations with an embedded model.

    features    the model's inputs besides word pieces
    windows     splits a text into overlapping windows of word pieces
    inference   runs the model on its own threads
    spans       turns token labels into spans
    engine      the engine that `gateway.detection.engines` runs

`training/` trains the model. `recognizers/person_name.py` finds names announced by context.
"""

from gateway.detection.ner.engine import BuiltinModel, TokenClassifier

__all__ = ["BuiltinModel", "TokenClassifier"]
