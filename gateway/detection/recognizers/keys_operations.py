"""Keys of monitoring, identity, secret stores, feature flags and delivery services."""

from gateway.detection.recognizers._samples import BASE64, HEX, LOWER, UPPER, URL_SAFE, sample
from gateway.detection.recognizers._token_checks import mixed
from gateway.detection.recognizers._vendor import UUID, announced, vendor
from gateway.detection.recognizers.secrets._value_classifier import is_made

_uuid = "4b8e1d72-c05f-4a39-9e6d-f17a2c83b5d0"

RECOGNIZERS = (
    vendor(
        "vault_legacy",
        r"\bs\.[A-Za-z0-9]{24}",
        r"",
        "s." + sample(24),
        check=lambda value: None if is_made(value) else False,
        exact=True,
    ),
    vendor("openshift", r"\bsha256~", r"[A-Za-z0-9_\-]{43}", "sha256" + "~" + sample(43, URL_SAFE), exact=True),
    vendor("octopus", r"\bAPI-[A-Z0-9]{8}", r"[A-Z0-9]{18}", "API" + "-" + sample(26, UPPER), exact=True),
    vendor("honeycomb", r"\bhc[abx]i[kc]_", r"[a-z0-9]{26,60}\b", "hcaik" + "_" + sample(58, LOWER)),
    vendor("logfire", r"\bpylf_v\d_", r"(?:[a-z]{2}_)?[A-Za-z0-9]{40,50}\b", "pylf" + "_v1_us_" + sample(43)),
    vendor("elastic", r"\bessu_", r"[A-Za-z0-9+/]{40,}={0,2}", "essu" + "_" + sample(80, BASE64)),
    vendor(
        "pagerduty", r"\bu\+[A-Za-z0-9]{8}", r"[A-Za-z0-9_+\-]{10}", "u" + "+" + sample(18), check=mixed, exact=True
    ),
    vendor(
        "launchdarkly",
        r"\b(?:api|sdk|mob|rel)-[0-9a-f]{8}-[0-9a-f]{4}-4",
        r"[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        "sdk" + "-" + _uuid,
    ),
    vendor("posthog", r"\bph[csx]_", r"[A-Za-z0-9]{40,48}\b", "phx" + "_" + sample(43)),
    vendor(
        "infisical",
        r"\bst\.[0-9a-f]{8}-",
        r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[0-9a-f.]{32,}",
        "st" + f".{_uuid}." + sample(64, HEX),
    ),
    vendor(
        "bitwarden",
        r"\b0\.[0-9a-f]{8}-",
        r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/=]{24}",
        f"0.{_uuid}." + sample(30) + ":" + sample(22) + "==",
    ),
    vendor(
        "harness",
        r"\b(?:pat|sat)\.[A-Za-z0-9_\-]{22}\.",
        r"[0-9a-f]{24}\.[A-Za-z0-9]{20}\b",
        "pat" + "." + sample(22) + "." + sample(24, HEX) + "." + sample(20),
    ),
    vendor(
        "authress",
        r"\b(?:sc|ext|scauth|authress)_(?i:[a-z0-9]{5,30})\.",
        r"(?i:[a-z0-9]{4,6}\.acc[_\-][a-z0-9\-]{10,32}\.[a-z0-9+/_=\-]{30,120})",
        "sc" + "_" + sample(12, LOWER) + "." + sample(4, LOWER) + ".acc_" + sample(14, LOWER) + "." + sample(43),
    ),
    vendor(
        "defined_networking",
        r"\bdnkey-",
        r"(?i:[a-z0-9=_\-]{26}-[a-z0-9=_\-]{52})",
        "dnkey" + "-" + sample(26, LOWER) + "-" + sample(52, LOWER),
    ),
    vendor("intra42", r"\bs-s4t2(?:ud|af)-", r"[0-9a-f]{64}\b", "s-s4t2" + "ud-" + sample(64, HEX)),
    vendor("infracost", r"\bico-", r"[A-Za-z0-9]{32}\b", "ico" + "-" + sample(32)),
    vendor(
        "sourcegraph",
        r"\bsgp_",
        r"(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}\b",
        "sgp" + "_" + sample(16, HEX) + "_" + sample(40, HEX),
        "sgp" + "_local_" + sample(40, HEX),
    ),
    vendor(
        "ngrok",
        r"\b[12][A-Za-z0-9]{26}_",
        r"[A-Za-z0-9]{20,21}",
        "2" + sample(26) + "_" + sample(20),
        check=mixed,
        exact=True,
    ),
    vendor("workos", r"\bsk_(?:live|test)_a2V5", r"[A-Za-z0-9+/=]{20,}", "sk" + "_live_a2V5" + sample(60)),
    vendor(
        "stytch",
        r"\bsecret-(?:live|test)-",
        r"[A-Za-z0-9_\-=]{36}",
        "secret" + "-live-" + sample(36, URL_SAFE),
        exact=True,
    ),
    vendor("unkey", r"\bunkey_", r"[A-Za-z0-9]{20,40}\b", "unkey" + "_" + sample(24)),
    vendor(
        "salesforce",
        r"\b00D[A-Za-z0-9]{12}(?:[A-Z0-9]{3})?!",
        r"[A-Za-z0-9_.]{80,130}",
        "00D" + sample(12) + "!" + sample(96),
    ),
    vendor("ubidots", r"\bBB[A-Z]{2}-", r"[A-Za-z0-9]{30}", "BBFF" + "-" + sample(30), exact=True),
    vendor("onesignal", r"\bos_v2_(?:app|org)_", r"[a-z2-7]{80,110}\b", "os" + "_v2_app_" + "abc2defg" * 12),
    vendor("maxmind", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", r"", sample(6) + "_" + sample(29) + "_mmk", exact=True),
    announced(
        "sonar_announced",
        r"sonar(?:qube|cloud)?[._\-]?(?:login|token)?",
        r"(?:sq[apu]_)?[0-9a-zA-Z]{40}",
        sample(40, HEX),
        check=lambda value: None if len(set(value)) > 5 else False,
    ),
    announced("messagebird", r"message[_\-]?bird", rf"(?i:{UUID})", _uuid),
    announced(
        "sumologic", r"sumo(?:logic|[_\-. ]|token|access|key)", r"su[A-Za-z0-9]{12}", "su" + sample(12), check=mixed
    ),
    announced("lob", r"lob", r"(?:live|test)_(?:pub_)?[0-9a-f]{31,35}", "live" + "_" + sample(35, HEX)),
)
