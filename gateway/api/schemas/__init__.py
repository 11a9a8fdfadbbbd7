"""Defines request and response bodies as pydantic models, for validation and for the OpenAPI document.

findings     explain, the findings of recent requests
text         analyze, protect, reconstruct, shard, playground
chat         chat completions and the list of models
receipts     receipts, verification, anchor payloads
governance   policies, usage, settlement, health
errors       every error code with its status, meaning and remedy
operations   the description, required scope and errors of each operation

`gateway.policy.document` defines the schema of policy documents.
"""
