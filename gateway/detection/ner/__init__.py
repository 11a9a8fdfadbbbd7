"""Names, places and organisations, found by an embedded model.

features    what the model sees besides word pieces
windows     a text as word pieces, in windows that overlap
inference   the model's threads
spans       its judgement of tokens as spans of the text
types       its labels as entity types
engine      the face
"""

from gateway.detection.ner.engine import NameFinder, TokenClassifier

__all__ = ["NameFinder", "TokenClassifier"]
