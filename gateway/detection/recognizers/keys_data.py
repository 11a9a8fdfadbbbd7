"""Keys of databases, data platforms, search and further model tools."""

from gateway.detection.recognizers._samples import DIGITS, HEX, LOWER, UPPER, URL_SAFE, sample
from gateway.detection.recognizers._token_checks import mixed
from gateway.detection.recognizers._vendor import UUID, announced, vendor

_uuid = "9a3f6c18-72de-4b05-8c41-e6d07b25f93a"

RECOGNIZERS = (
    vendor("clickhouse", r"\b4b1d[A-Za-z0-9]{8}", r"[A-Za-z0-9]{30}", "4b1d" + sample(38), exact=True),
    vendor("neon", r"\bnapi_", r"[a-z0-9]{60,70}\b", "napi" + "_" + sample(64, LOWER)),
    vendor(
        "cockroach", r"\bCCDB1_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{40}\b", "CCDB1" + "_" + sample(22) + "_" + sample(40)
    ),
    vendor("mongodb_atlas", r"\bmdb_sa_sk_", r"[A-Za-z0-9_\-]{40}", "mdb" + "_sa_sk_" + sample(40, URL_SAFE)),
    vendor("dbt", r"\bdbt[cu]_", r"[A-Za-z0-9_\-]{40,70}", "dbtc" + "_" + sample(54)),
    vendor(
        "tinybird",
        r"\bp\.eyJ",
        r"[A-Za-z0-9_\-]{60,}\.[A-Za-z0-9_\-]{40,}",
        "p" + ".eyJ" + sample(90) + "." + sample(43),
    ),
    vendor("langfuse", r"\b[sp]k-lf-", UUID, "sk" + f"-lf-{_uuid}"),
    vendor("tavily", r"\btvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{32,40}\b", "tvly" + "-" + sample(32)),
    vendor(
        "jina", r"\bjina_", r"[0-9a-f]{32}[A-Za-z0-9_\-]{28}", "jina" + "_" + sample(32, HEX) + sample(28), exact=True
    ),
    vendor("firecrawl", r"\bfc-[0-9a-f]{8}", r"[0-9a-f]{24}", "fc" + "-" + sample(32, HEX), exact=True),
    vendor("fireworks", r"\bfw_", r"[A-Za-z0-9]{22,24}\b", "fw" + "_" + sample(24), check=mixed),
    vendor("anyscale", r"\besecret_", r"[a-z0-9]{26,32}\b", "esecret" + "_" + sample(28, LOWER)),
    vendor("nomic", r"\bnk-", r"[A-Za-z0-9_\-]{43}", "nk" + "-" + sample(43), check=mixed, exact=True),
    vendor("deepseek_style", r"\bsk-[0-9a-f]{8}", r"[0-9a-f]{24}", "sk" + "-" + sample(32, HEX), exact=True),
    vendor("helicone", r"\b[sp]k-helicone-", r"[a-z0-9\-]{20,}\b", "sk" + "-helicone-" + sample(32, LOWER)),
    vendor("nvidia_ngc", r"\bnvapi-stg-", r"[A-Za-z0-9_\-]{60,70}", "nvapi" + "-stg-" + sample(64, URL_SAFE)),
    vendor("apify", r"\bapify_api_", r"[A-Za-z0-9]{36}\b", "apify" + "_api_" + sample(36)),
    vendor("klaviyo", r"\bpk_[0-9a-f]{8}", r"[0-9a-f]{26}", "pk" + "_" + sample(34, HEX), exact=True),
    vendor("clickup", r"\bpk_\d{6,9}_", r"[A-Z0-9]{32}\b", "pk" + "_" + sample(8, DIGITS) + "_" + sample(32, UPPER)),
    vendor(
        "asana",
        r"\b[0-2]/\d{16}[:/]",
        r"(?:\d{16}:)?[0-9a-f]{32}\b",
        "1" + "/" + sample(16, DIGITS) + ":" + sample(32, HEX),
    ),
    vendor("trello", r"\bATTA[0-9a-f]{8}", r"[0-9a-f]{52,68}\b", "ATTA" + sample(64, HEX)),
    vendor(
        "zuplo", r"\bzpka_", r"[a-z0-9]{32}_[a-z0-9]{8}\b", "zpka" + "_" + sample(32, LOWER) + "_" + sample(8, LOWER)
    ),
    vendor("google_refresh", r"\b1//0[A-Za-z0-9_\-]", r"[A-Za-z0-9_\-]{40,110}", "1" + "//0" + sample(100, URL_SAFE)),
    vendor(
        "firebase_messaging",
        r"\bAAAA[A-Za-z0-9_\-]{7}:",
        r"APA91b[A-Za-z0-9_\-]{120,}",
        "AAAA" + sample(7) + ":APA91b" + sample(134, URL_SAFE),
    ),
    vendor("scalingo", r"\btk-us-", r"[A-Za-z0-9_\-]{48}", "tk" + "-us-" + sample(48, URL_SAFE), exact=True),
    vendor("settlemint", r"\bsm_(?:aat|pat|sat)_", r"[A-Za-z0-9]{16}", "sm" + "_aat_" + sample(16), exact=True),
    vendor("tencent", r"\bAKID[A-Za-z0-9]{8}", r"[A-Za-z0-9]{24}", "AKID" + sample(32), check=mixed, exact=True),
    vendor(
        "baidu",
        r"\bbce-v3/ALTAK-",
        r"[A-Za-z0-9]{21}/[0-9a-f]{40}\b",
        "bce-v3" + "/ALTAK-" + sample(21) + "/" + sample(40, HEX),
    ),
    vendor("volcengine", r"\bAKLT[A-Za-z0-9]{8}", r"[A-Za-z0-9_\-]{32,60}", "AKLT" + sample(40), check=mixed),
    vendor(
        "yandex_token",
        r"\bt1\.",
        r"[A-Z0-9a-z_\-]+={0,2}\.[A-Z0-9a-z_\-]{86}={0,2}",
        "t1" + "." + sample(12) + "." + sample(86),
    ),
    vendor(
        "yandex_secret", r"\bYC[A-Za-z0-9_\-]{8}", r"[A-Za-z0-9_\-]{30}", "YC" + sample(38), check=mixed, exact=True
    ),
    vendor(
        "jetbrains",
        r"\bperm[:\-][A-Za-z0-9=]",
        r"[A-Za-z0-9=.]{4,}\.[A-Za-z0-9=]{2,}\.[A-Za-z0-9]{30,}",
        "perm" + ":" + sample(8) + "." + sample(12) + "." + sample(40),
    ),
    vendor("deno", r"\bdd[pwo]_", r"[A-Za-z0-9]{36}\b", "ddp" + "_" + sample(36)),
    vendor(
        "snyk_oauth",
        r"\bsnyk_[a-z]{3}\.",
        r"[a-z0-9]{8}\.[A-Za-z0-9_.\-]{40,}",
        "snyk" + "_uat." + sample(8, HEX) + "." + sample(60),
    ),
    vendor("mailgun_public", r"\bpubkey-", r"[0-9a-f]{32}\b", "pubkey" + "-" + sample(32, HEX)),
    vendor(
        "gocardless",
        r"\blive_[A-Za-z0-9_\-=]{8}",
        r"[A-Za-z0-9_\-=]{32}",
        "live" + "_" + sample(40),
        check=mixed,
        exact=True,
    ),
    announced("algolia", r"algolia", r"[0-9a-f]{32}", sample(32, HEX)),
    announced("wandb", r"wandb", r"[0-9a-f]{40}", sample(40, HEX)),
    announced("linode", r"linode|hetzner|vultr", r"[A-Za-z0-9]{36,64}", sample(64, HEX)),
)
