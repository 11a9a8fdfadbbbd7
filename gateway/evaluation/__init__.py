"""Measures detection on labelled text: what is found, what is hidden, and what is hidden wrongly.

loader            documents and cases from the lines of a file
labels            maps a label to its entity type and whether it must be hidden
predictor         finds what the gateway detects and hides in a text under a policy
document_scoring  computes the figures of documents, and lists every disagreement
case_scoring      does the same for cases
report            renders the disagreements as one page

Pure: opens no labelled file itself. The command is `gateway.cli.evaluate`; docs/evaluation.md explains the figures.
"""
