"""Calls of model providers that no wire serves: which they are, and the errors that refuse them."""

import re

from gateway.detection.data_files import word_lists
from gateway.errors import NotFound

_WORDS = word_lists(__file__)
# Calls whose texts are in files, audio or images, or go through a later job or another connection.
_BEYOND_JSON = re.compile(
    r"/(?:audio|images|videos|files|uploads?|batches|realtime|ocr|batchPredictionJobs)(?:[/:]|\Z)"
    r"|:(?:batchGenerateContent|asyncBatchEmbedContent)\Z",
    re.IGNORECASE,
)
BEYOND_JSON = "Files, audio, images, batches and realtime sessions cannot be protected, and nothing was sent"
_API_BASES = ("/v1/", "/v1beta/", "/openai/", "/model/")
GATEWAYS_PORT = (
    "Calls of models' APIs with a base URL belong to the gateway's own port (`gateway_port`, 8000 by default), such as"
    " http://127.0.0.1:8000/v1; nothing was sent."
)
# Calls of Amazon Bedrock to a model. AWS's SDKs encode `:` and `/` in the id or ARN of a model.
_BEDROCK = re.compile(
    r"/model/(?:[\w.:-]|%3A|%2F)+/(?:converse|converse-stream|count-tokens|invoke|invoke-with-response-stream)",
    re.ASCII | re.IGNORECASE,
)


def unknown_path(path: str) -> NotFound:
    """Returns the error for a path without a route. The message says which calls the gateway supports."""
    words = path.strip("/").split("/")
    call = next((word for word in words if word not in _WORDS["prefixes"]), "")
    if is_beyond_json(path):
        problem = f"{BEYOND_JSON}. A policy with `attachments` set to `pass` lets files pass inside other calls."
    elif path.startswith("/model/") and not is_bedrock(path):
        problem = (
            "The path of a call to Amazon Bedrock must have the id or the ARN of a model and nothing else, such as "
            "/model/{model}/converse, and nothing was sent."
        )
    elif call in _WORDS["calls"]:
        problem = "This call is not supported yet, and nothing was sent."
    else:
        problem = "The gateway does not know this call, and nothing was sent."
    return NotFound(
        f"{problem} Supported provider calls: GET /v1/models, POST "
        "/v1/chat/completions and, for models of upstreams, /v1/completions, /v1/responses, /v1/embeddings, "
        "/v1/moderations, /v1/messages, /v1beta/models/{model}:generateContent and /model/{model}/converse; GET /docs "
        "lists the gateway's own."
    )


def is_model_call(path: str) -> bool:
    """Whether a path begins as those of providers' APIs do."""
    return path.startswith(_API_BASES)


def is_beyond_json(path: str) -> bool:
    """Whether a call to `path` has texts that cannot be protected, though its body may be JSON."""
    return _BEYOND_JSON.search(path) is not None


def is_bedrock(path: str) -> bool:
    """Whether `path` is a model call of Amazon Bedrock."""
    return _BEDROCK.fullmatch(path) is not None
