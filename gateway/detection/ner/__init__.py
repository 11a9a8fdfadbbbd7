"""Named entity recognition: finds persons, places and organizations with an embedded model.

    finder      divides texts into blocks for a model, here or in another process, and remembers its answers
    units       what the student reads: units of text and their features
    cascade     decides what the transformer reads after it
    inference   runs models: the student, which reads everything, and the transformer
    spans       turns token labels into spans
    engine      runs a token classification model on overlapping windows of word pieces, and labels each
    builtin     the two models that ship with the gateway

`training/` trains the model. `recognizers/person_name.py` finds names announced by context. Importing `finder` does not
import the models' libraries.
"""
