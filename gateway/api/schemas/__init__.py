"""The bodies of the interface, as pydantic models: what is validated, and what the OpenAPI document says.

text         analyze, protect, reconstruct, shard, playground
chat         chat completions and the list of models
receipts     receipts, verification, anchor payloads
governance   policies, usage, settlement, health
errors       every error with its status and meaning
operations   what each operation is for, who may use it, and which errors it gives
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
