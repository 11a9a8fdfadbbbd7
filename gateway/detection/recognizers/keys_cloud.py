"""Keys of clouds, hosting, databases and monitoring."""

from gateway.detection.recognizers._samples import BASE32, BASE64, HEX, LOWER, UPPER, URL_SAFE, sample
from gateway.detection.recognizers._token_checks import aws_key, trailing_crc
from gateway.detection.recognizers._vendor import announced, vendor
from gateway.detection.recognizers.secrets._value_classifier import is_dummy

RECOGNIZERS = (
    vendor(
        "aws_access_key",
        r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])",
        r"[A-Z0-9]{16}\b",
        "AKIA" + sample(16, BASE32),
        check=aws_key,
    ),
    announced("aws", r"aws|amazon|secret_?access_?key", r"[A-Za-z0-9/+]{40}", sample(40, BASE64)),
    vendor(
        "aws_bedrock",
        r"\bABSK",
        r"[A-Za-z0-9+/]{109,269}={0,2}",
        "ABSK" + sample(128, BASE64) + "==",
        check=lambda value: False if is_dummy(value) else None,
        exact=True,
    ),
    vendor(
        "aws_bedrock_short",
        r"\bbedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t",
        r"[A-Za-z0-9+/=_\-]*",
        "bedrock-api-key-" + "YmVkcm9jay5hbWF6b25hd3MuY29t" + sample(80, BASE64),
    ),
    vendor(
        "aws_session",
        r"\b(?:FwoGZXIvYXdzE|IQoJb3JpZ2lu)",
        r"[A-Za-z0-9+/]{100,}={0,2}",
        "IQoJb3JpZ2lu" + sample(300, BASE64) + "==",
    ),
    vendor("google", r"\bAIza", r"[A-Za-z0-9_\-]{35}", "AIza" + sample(35, URL_SAFE), exact=True),
    vendor("google_client_secret", r"\bGOCSPX-", r"[A-Za-z0-9_\-]{28}", "GOCSPX" + "-" + sample(28, URL_SAFE)),
    vendor("google_access_token", r"\bya29\.", r"[A-Za-z0-9_\-.]{30,}", "ya29" + "." + sample(80, URL_SAFE)),
    vendor(
        "azure_storage",
        r"(?i)\bAccountKey=",
        r"[A-Za-z0-9+/]{86}==",
        "AccountKey=" + sample(86, BASE64) + "==",
    ),
    vendor(
        "azure_shared_access",
        r"\bsig=[A-Za-z0-9%]{10}",
        r"[A-Za-z0-9%]{20,90}(?:%3D|=)",
        "sig=" + sample(43) + "%3D",
    ),
    vendor(
        "azure_client_secret",
        r"\b[A-Za-z0-9_~.]{3}\dQ~",
        r"[A-Za-z0-9_~.\-]{31,34}",
        "abc7Q" + "~" + sample(34),
        "_aB8Q" + "~" + sample(31),
        exact=True,
        end=r"(?:[^A-Za-z0-9_~\-]|$)",
    ),
    vendor("alibaba", r"\bLTAI", r"[A-Za-z0-9]{17,21}\b", "LTAI" + sample(20)),
    vendor("digitalocean", r"\bdo[opr]_v1_", r"[0-9a-f]{64}\b", "dop" + "_v1_" + sample(64, HEX)),
    vendor("heroku", r"\bHRKU-", r"AA[A-Za-z0-9_\-]{58}", "HRKU" + "-AA" + sample(58, URL_SAFE)),
    announced(
        "heroku_legacy",
        r"heroku",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "0f3c9a71-5b2e-4d86-9c1f-7e4a2b8d6013",
    ),
    announced("cloudflare", r"cloudflare|\bcf_", r"[A-Za-z0-9_\-]{37,40}", sample(40)),
    vendor(
        "cloudflare_origin",
        r"\bv1\.0-[0-9a-f]{8}",
        r"[0-9a-f]{16}-[0-9a-f]{146}\b",
        "v1.0" + "-" + sample(24, HEX) + "-" + sample(146, HEX),
    ),
    announced("datadog", r"datadog|\bdd_", r"[0-9a-f]{32}(?:[0-9a-f]{8})?", sample(32, HEX)),
    announced("fastly", r"fastly", r"[A-Za-z0-9_\-]{32}", sample(32)),
    vendor("databricks", r"\bdapi[0-9a-f]", r"[0-9a-f]{31}(?:-\d)?\b", "dapi" + sample(32, HEX)),
    vendor("new_relic", r"\bNR(?:AK|JS|II|AL)-", r"[A-Za-z0-9_\-]{19,40}", "NRAK" + "-" + sample(27, UPPER)),
    vendor(
        "sentry",
        r"\bsntry[su]_",
        r"(?:eyJ[A-Za-z0-9_=+/\-]{40,}|[0-9a-f]{64}\b)",
        "sntrys" + "_eyJ" + sample(100),
        "sntryu" + "_" + sample(64, HEX),
    ),
    vendor(
        "grafana",
        r"\bgl(?:sa|c)_",
        r"[A-Za-z0-9_+/=]{32,}",
        "glsa" + "_" + sample(32) + "_" + sample(8, HEX),
        check=trailing_crc,
    ),
    vendor(
        "dynatrace",
        r"\bdt0[a-z]\d\d\.",
        r"(?i:[A-Z0-9]{24}\.[A-Z0-9]{64})\b",
        "dt0c01" + "." + sample(24, UPPER) + "." + sample(64, UPPER),
    ),
    vendor("supabase", r"\bsb(?:p|_secret)_", r"[A-Za-z0-9_]{31,44}\b", "sbp" + "_" + sample(40, HEX)),
    vendor(
        "planetscale",
        r"\bpscale_",
        r"(?:tkn|pw|oauth)_[A-Za-z0-9_=.\-]{32,64}",
        "pscale" + "_tkn_" + sample(43),
    ),
    vendor("fly", r"\b(?:fo1_|FlyV1 fm|fm[12][a-z]?_)", r"[A-Za-z0-9+/=,_\-]{40,}", "fo1" + "_" + sample(43)),
    vendor("vault", r"\bhv[sbr]\.", r"[A-Za-z0-9_\-]{24,}", "hvs" + "." + sample(90, URL_SAFE)),
    vendor(
        "terraform",
        r"[A-Za-z0-9]*\.atlasv1\.",
        r"[A-Za-z0-9_\-]{60,70}",
        sample(14) + "." + "atlasv1" + "." + sample(64, URL_SAFE),
    ),
    vendor("pulumi", r"\bpul-", r"[0-9a-f]{40}\b", "pul" + "-" + sample(40, HEX)),
    vendor(
        "doppler",
        r"\bdp\.(?:ct|pt|sa|st|scim|audit)\.",
        r"(?:[a-z0-9_\-]{2,35}\.)?[A-Za-z0-9]{40,44}\b",
        "dp" + ".pt." + sample(43),
    ),
    vendor("alibaba_secret", r"\bSTS\.N", r"[A-Za-z0-9]{20,}\b", "STS" + ".N" + sample(24)),
    vendor(
        "tailscale",
        r"\btskey-",
        r"[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}\b",
        "tskey" + "-auth-" + sample(12) + "-" + sample(32),
    ),
    vendor(
        "onepassword",
        r"\b(?:ops_eyJ|A3-[A-Z0-9]{6}-)",
        r"(?:[A-Za-z0-9+/=_\-]{160,}|(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b)",
        "A3-"
        + sample(6, UPPER)
        + "-"
        + sample(6, UPPER)
        + "-"
        + sample(5, UPPER)
        + "-"
        + sample(5, UPPER)
        + "-"
        + sample(5, UPPER)
        + "-"
        + sample(5, UPPER),
        "ops_" + "eyJ" + sample(300),
    ),
    vendor("confluent", r"\bcflt", r"[A-Za-z0-9+/]{60}\b", "cflt" + sample(60)),
    vendor("scaleway", r"\bSCW[A-Z0-9]", r"[A-Z0-9]{16}\b", "SCW" + sample(17, UPPER)),
    vendor("yandex", r"\bAQVN", r"[A-Za-z0-9_\-]{35,38}\b", "AQVN" + sample(36, LOWER)),
)
