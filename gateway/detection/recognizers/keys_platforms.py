"""Keys of newer platforms for applications, payment, jobs and agents."""

from gateway.detection.recognizers._samples import HEX, LOWER, URL_SAFE, sample
from gateway.detection.recognizers._token_checks import mixed
from gateway.detection.recognizers._vendor import UUID, vendor

_uuid = "2c7f9b41-6e0d-4a85-b93f-58d1e4c70a26"

RECOGNIZERS = (
    vendor("adafruit", r"\baio_", r"[A-Za-z0-9]{28}", "aio" + "_" + sample(28), exact=True),
    vendor("axiom", r"\bxa[ap]t-", UUID, "xaat" + f"-{_uuid}"),
    vendor(
        "browserbase",
        r"\bbb_(?:live|test)_",
        r"[A-Za-z0-9_\-]{24,40}",
        "bb" + "_live_" + sample(27, URL_SAFE),
        check=mixed,
    ),
    vendor("cloudflare_token", r"\bcf(?:at|k|ut)_", r"[A-Za-z0-9_\-]{40,60}", "cfut" + "_" + sample(48)),
    vendor(
        "convex",
        r"\b(?:prod|dev|preview):[a-z]+-[a-z]+-\d{1,4}\|",
        r"[A-Za-z0-9+/=]{40,}",
        "prod" + ":quick-otter-123|" + sample(80),
    ),
    vendor("cursor", r"\b(?:crsr|key)_[0-9a-f]{8}", r"[0-9a-f]{56}\b", "crsr" + "_" + sample(64, HEX)),
    vendor("dub", r"\bdub_", r"[A-Za-z0-9]{24}", "dub" + "_" + sample(24), check=mixed, exact=True),
    vendor("e2b", r"\be2b_", r"[0-9a-f]{40}\b", "e2b" + "_" + sample(40, HEX)),
    vendor("gemini", r"\bAQ\.A", r"[A-Za-z0-9_\-]{40,60}", "AQ" + ".A" + sample(51), exact=True),
    vendor("inngest", r"\bsignkey-(?:prod|test|branch)-", r"[0-9a-f]{32,64}\b", "signkey" + "-prod-" + sample(64, HEX)),
    vendor("modal", r"\ba[ks]-[A-Za-z0-9]{8}", r"[A-Za-z0-9]{14}", "ak" + "-" + sample(22), check=mixed, exact=True),
    vendor("nylas", r"\bnyk_v\d_", r"[A-Za-z0-9]{64}\b", "nyk" + "_v0_" + sample(64)),
    vendor(
        "paddle",
        r"\bpdl_(?:live|sdbx)_apikey_",
        r"[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}\b",
        "pdl" + "_live_apikey_" + sample(26, LOWER) + "_" + sample(22) + "_" + sample(3),
    ),
    vendor("polar", r"\bpolar_[a-z]{2,4}_", r"[A-Za-z0-9]{32,64}\b", "polar" + "_oat_" + sample(43)),
    vendor("statsig", r"\bsecret-", r"[A-Za-z0-9]{43}", "secret" + "-" + sample(43), check=mixed, exact=True),
    vendor("together", r"\btgp_v\d_", r"[A-Za-z0-9_\-]{40,50}", "tgp" + "_v1_" + sample(43, URL_SAFE)),
    vendor(
        "trigger",
        r"\btr_(?:prod|dev|stg|preview|pat)_",
        r"[A-Za-z0-9]{20,40}",
        "tr" + "_prod_" + sample(20),
        check=mixed,
        exact=True,
    ),
    vendor(
        "vercel_blob",
        r"\bvercel_blob_rw_",
        r"[A-Za-z0-9]{16}_[A-Za-z0-9]{30,40}\b",
        "vercel" + "_blob_rw_" + sample(16) + "_" + sample(30),
    ),
)
