"""Request and response bodies as pydantic models: what is validated, and what the OpenAPI document shows.

text         analyze, protect, reconstruct, shard, playground
chat         chat completions and the list of models
receipts     receipts, verification, anchor payloads
governance   policies, usage, settlement, health
errors       every error with its status and meaning
operations   each operation's purpose, required scope and errors

Policy documents have a schema of their own, in `gateway.policy.document`.
"""

from gateway.api.schemas.chat import ChatRequest
from gateway.api.schemas.governance import PolicyRequest
from gateway.api.schemas.operations import OPERATOR, SCOPE, documented
from gateway.api.schemas.parts import ReadElsewhere, SessionCredentials
from gateway.api.schemas.text import AnalyzeRequest, PlaygroundRequest, ProtectRequest, ReconstructRequest, ShardRequest

__all__ = [
    "OPERATOR",
    "SCOPE",
    "AnalyzeRequest",
    "ChatRequest",
    "PlaygroundRequest",
    "PolicyRequest",
    "ProtectRequest",
    "ReadElsewhere",
    "ReconstructRequest",
    "SessionCredentials",
    "ShardRequest",
    "documented",
]
