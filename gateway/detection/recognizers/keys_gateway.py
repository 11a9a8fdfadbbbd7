"""The gateway's own keys and session tokens: in a chat they are somebody's mistake, like any other secret."""

from gateway.detection.recognizers._samples import URL_SAFE, sample
from gateway.detection.recognizers._vendor import vendor

RECOGNIZERS = (
    vendor("privacy_gateway_key", r"\bsvck_", r"[A-Za-z0-9_\-]{40,}", "svck" + "_" + sample(43, URL_SAFE)),
    vendor("privacy_gateway_session", r"\bvst_", r"[A-Za-z0-9_\-]{40,}", "vst" + "_" + sample(43, URL_SAFE)),
)
