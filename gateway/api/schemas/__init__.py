"""Defines request and response bodies as pydantic models, for validation and for the OpenAPI document.

text         analyze, protect, reconstruct, shard, playground
chat         chat completions and the list of models
receipts     receipts, verification, anchor payloads
governance   policies, usage, settlement, health
errors       every error code with its status, meaning and remedy
operations   the description, required scope and errors of each operation

`gateway.policy.document` defines the schema of policy documents.
"""

from gateway.api.schemas.chat import ChatRequest
from gateway.api.schemas.governance import PolicyRequest
from gateway.api.schemas.operations import OPERATOR, SCOPE, documented
from gateway.api.schemas.parts import DocumentedAs, SessionCredentials
from gateway.api.schemas.text import AnalyzeRequest, PlaygroundRequest, ProtectRequest, ReconstructRequest, ShardRequest

__all__ = [
    "OPERATOR",
    "SCOPE",
    "AnalyzeRequest",
    "ChatRequest",
    "DocumentedAs",
    "PlaygroundRequest",
    "PolicyRequest",
    "ProtectRequest",
    "ReconstructRequest",
    "SessionCredentials",
    "ShardRequest",
    "documented",
]
