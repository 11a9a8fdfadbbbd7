"""Measures detection on labelled text: what was found, what was hidden, and what should not have been.

    read_lines     documents and cases from the lines of a file
    LabelMap       what a label means: its entity type, and whether it must be hidden
    Predictor      what the gateway finds and hides in a text under a policy
    score_documents, score_cases   the figures, and every disagreement
    html_report    the disagreements as one page

Pure: no files, no clock. The command is `gateway.cli.evaluate`; docs/evaluation.md explains the figures.
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
