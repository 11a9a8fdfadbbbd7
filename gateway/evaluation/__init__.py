"""Measures detection on labelled text: what is found, what is hidden, and what is hidden wrongly.

    read_lines     documents and cases from the lines of a file
    LabelMap       maps a label to its entity type and whether it must be hidden
    Predictor      finds what the gateway detects and hides in a text under a policy
    score_documents, score_cases   compute the figures and list every disagreement
    html_report    renders the disagreements as one page

Pure: opens no labelled file itself. The command is `gateway.cli.evaluate`; docs/evaluation.md explains the figures.
"""

from gateway.evaluation.case_scoring import CasesScore, EntityScore, score_cases
from gateway.evaluation.disagreements import Disagreement, Kind
from gateway.evaluation.figures import DocumentsScore, LabelScore, TypeScore
from gateway.evaluation.labels import LabelMap, Treatment
from gateway.evaluation.loader import Case, Document, GoldSpan, Labelled, read_lines
from gateway.evaluation.predictor import Finding, Predictor
from gateway.evaluation.report import Evaluated, html_report
from gateway.evaluation.scoring import score_documents

__all__ = [
    "Case",
    "CasesScore",
    "Disagreement",
    "Document",
    "DocumentsScore",
    "EntityScore",
    "Evaluated",
    "Finding",
    "GoldSpan",
    "Kind",
    "LabelMap",
    "LabelScore",
    "Labelled",
    "Predictor",
    "Treatment",
    "TypeScore",
    "html_report",
    "read_lines",
    "score_cases",
    "score_documents",
]
