"""Keys of model vendors and of what is built around models."""

from gateway.detection.recognizers._samples import HEX, LETTERS, URL_SAFE, sample
from gateway.detection.recognizers._vendor import vendor

RECOGNIZERS = (
    vendor(
        "openai",
        r"\bsk-(?:proj|svcacct|admin|None)-",
        r"[A-Za-z0-9_\-]{20,}",
        "sk-" + "proj-" + sample(60, URL_SAFE),
    ),
    vendor(
        "openai_plain",
        r"\bsk-[A-Za-z0-9]{20}",
        r"[A-Za-z0-9]{12,60}\b",
        "sk-" + sample(48),
        "sk-" + sample(20) + "T3Blbk" + "FJ" + sample(20),
    ),
    vendor(
        "anthropic",
        r"\bsk-ant-",
        r"[a-z]{3,8}\d\d-[A-Za-z0-9_\-]{80,120}AA",
        "sk-" + "ant-api03-" + sample(93, URL_SAFE) + "AA",
        exact=True,
    ),
    vendor("openrouter", r"\bsk-or-", r"v\d-[0-9a-f]{64}\b", "sk-" + "or-v1-" + sample(64, HEX)),
    vendor("groq", r"\bgsk_", r"[A-Za-z0-9]{40,60}\b", "gsk" + "_" + sample(52)),
    vendor("xai", r"\bxai-", r"[A-Za-z0-9]{60,90}\b", "xai" + "-" + sample(80)),
    vendor("perplexity", r"\bpplx-", r"[A-Za-z0-9]{40,60}\b", "pplx" + "-" + sample(48)),
    vendor("huggingface", r"\b(?:hf|api_org)_", r"[A-Za-z0-9]{34,40}\b", "hf" + "_" + sample(34, LETTERS)),
    vendor("replicate", r"\br8_", r"[A-Za-z0-9_\-]{37}\b", "r8" + "_" + sample(37)),
    vendor("nvidia", r"\bnvapi-", r"[A-Za-z0-9_\-]{60,70}", "nvapi" + "-" + sample(64, URL_SAFE)),
    vendor(
        "langchain",
        r"\blsv2_",
        r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}\b",
        "lsv2" + "_pt_" + sample(32, HEX) + "_" + sample(10, HEX),
    ),
    vendor(
        "pinecone",
        r"\bpcsk_",
        r"[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,70}\b",
        "pcsk" + "_" + sample(6) + "_" + sample(63),
    ),
    vendor("elevenlabs", r"\bsk_[0-9a-f]{8}", r"[0-9a-f]{40}\b", "sk" + "_" + sample(48, HEX)),
    vendor("cerebras", r"\bcsk-", r"[a-z0-9]{40,52}\b", "csk" + "-" + sample(48, HEX)),
    vendor("voyage", r"\bpa-[A-Za-z0-9_\-]{10}", r"[A-Za-z0-9_\-]{33}\b", "pa" + "-" + sample(43, URL_SAFE)),
)
