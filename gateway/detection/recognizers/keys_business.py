"""Keys of payment, commerce, mail and messaging services."""

from gateway.detection.recognizers._samples import DIGITS, HEX, LOWER, UPPER, URL_SAFE, sample
from gateway.detection.recognizers._token_checks import mixed, slack
from gateway.detection.recognizers._vendor import announced, vendor

_uuid = "7d1c5e94-2a6b-4f38-b0e7-93c8d5a1f260"

RECOGNIZERS = (
    vendor(
        "stripe",
        r"\b(?:sk|rk)_(?:live|test|prod)_",
        r"[A-Za-z0-9]{10,247}\b",
        "sk" + "_live_" + sample(24),
        "rk" + "_test_" + sample(99),
    ),
    vendor("stripe_webhook", r"\bwhsec_", r"[A-Za-z0-9+/=]{32,}", "whsec" + "_" + sample(32)),
    vendor(
        "square",
        r"\bsq0[a-z]{3}-",
        r"[A-Za-z0-9_\-]{22,43}",
        "sq0atp" + "-" + sample(22),
        "sq0csp" + "-" + sample(43),
    ),
    vendor("square_access", r"\bEAAA", r"[A-Za-z0-9_\-]{22,60}", "EAAA" + sample(60), check=mixed, exact=True),
    vendor("shopify", r"\bshp(?:at|ca|pa|ss|tka)_", r"[0-9A-Fa-f]{32}\b", "shpat" + "_" + sample(32, HEX)),
    vendor(
        "braintree",
        r"\baccess_token\$(?:production|sandbox)\$",
        r"[0-9a-z]{16}\$[0-9a-f]{32}\b",
        "access_token" + "$production$" + sample(16, LOWER) + "$" + sample(32, HEX),
    ),
    vendor(
        "plaid",
        r"\baccess-(?:sandbox|development|production)-",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
        "access" + "-production-" + _uuid,
    ),
    vendor("razorpay", r"\brzp_(?:live|test)_", r"[A-Za-z0-9]{14}\b", "rzp" + "_live_" + sample(14)),
    vendor(
        "flutterwave",
        r"\bFLW(?:SECK|PUBK)",
        r"(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?",
        "FLWSECK" + "_TEST-" + sample(32, HEX) + "-X",
    ),
    vendor("shippo", r"\bshippo_(?:live|test)_", r"[0-9a-f]{40}\b", "shippo" + "_live_" + sample(40, HEX)),
    vendor("easypost", r"\bEZ[AT]K", r"[A-Za-z0-9]{54}\b", "EZAK" + sample(54)),
    vendor(
        "slack",
        r"\bxox[abeoprs](?:\.xox[bp])?-",
        r"(?:(?:\d-)?\d{6,}(?:-\d+)*-[A-Za-z0-9]{8,64}|\d-[A-Za-z0-9]{12,}|[a-z0-9]{12,48}\b)",
        "xoxb" + "-" + sample(12, DIGITS) + "-" + sample(13, DIGITS) + "-" + sample(24),
        "xoxe" + ".xoxp-1-" + sample(140),
        "xoxr" + "-" + sample(12, LOWER),
        check=slack,
    ),
    vendor(
        "slack_app",
        r"\bxapp-",
        r"\d-[A-Z0-9]+-\d+-[0-9a-z]{32,}\b",
        "xapp" + "-1-A" + sample(10, UPPER) + "-" + sample(13, DIGITS) + "-" + sample(64, HEX),
    ),
    vendor(
        "slack_webhook",
        r"\b(?:https?://)?hooks\.slack(?:-gov)?\.com/",
        r"(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}",
        "https://hooks.slack.com" + "/services/T" + sample(8, UPPER) + "/B" + sample(8, UPPER) + "/" + sample(24),
    ),
    vendor(
        "teams_webhook",
        r"\.webhook\.office\.com/",
        r"webhookb2/[0-9a-z@\-]{36,73}/IncomingWebhook/[0-9a-z]{32}/[0-9a-z\-]{36}(?:/[A-Za-z0-9_\-]+)?",
        "." + "webhook.office.com" + f"/webhookb2/{_uuid}@{_uuid}/IncomingWebhook/" + sample(32, HEX) + f"/{_uuid}",
    ),
    vendor(
        "discord",
        r"\b[MNO][A-Za-z0-9]{23,25}\.",
        r"[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40}",
        "M" + sample(23) + "." + sample(6) + "." + sample(38),
    ),
    vendor(
        "discord_webhook",
        r"\bdiscord(?:app)?\.com/api/webhooks/",
        r"\d{17,20}/[A-Za-z0-9_\-]{60,80}",
        "discord.com" + "/api/webhooks/" + sample(18, DIGITS) + "/" + sample(68, URL_SAFE),
    ),
    vendor(
        "telegram",
        r"(?:\b|/bot)\d{8,10}:AA",
        r"[A-Za-z0-9_\-]{33}",
        "7" + sample(8, DIGITS) + ":AA" + sample(33, URL_SAFE),
    ),
    vendor("twilio", r"\b(?:SK|AC)[0-9a-f]{8}", r"[0-9a-f]{24}\b", "SK" + sample(32, HEX)),
    announced("twilio_token", r"twilio", r"[0-9a-f]{32}", sample(32, HEX)),
    vendor(
        "sendgrid",
        r"\bSG\.",
        r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}",
        "SG" + "." + sample(22, URL_SAFE) + "." + sample(43, URL_SAFE),
    ),
    vendor("mailgun", r"\bkey-[0-9a-f]{8}", r"[0-9a-f]{24}\b", "key" + "-" + sample(32, HEX)),
    vendor(
        "mailgun_signing",
        r"\b[0-9a-f]{32}-[0-9a-f]{8}-",
        r"[0-9a-f]{8}\b",
        sample(32, HEX) + "-" + sample(8, HEX) + "-" + sample(8, HEX),
    ),
    vendor("mailchimp", r"\b[0-9a-f]{32}-us\d", r"\d?\b", sample(32, HEX) + "-us" + "12"),
    vendor(
        "brevo",
        r"\bx(?:key|smtp)sib-",
        r"[0-9a-f]{64}-[A-Za-z0-9]{16}\b",
        "xkeysib" + "-" + sample(64, HEX) + "-" + sample(16),
    ),
    vendor("resend", r"\bre_[A-Za-z0-9]{8}_", r"[A-Za-z0-9]{24}\b", "re" + "_" + sample(8) + "_" + sample(24)),
    vendor(
        "hubspot",
        r"\bpat-[a-z]{2}\d-",
        r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
        "pat" + "-na1-" + _uuid,
    ),
    vendor("facebook", r"\bEAA[MC][A-Za-z0-9]{12}", r"[A-Za-z0-9]{60,}\b", "EAAC" + sample(120)),
    vendor("twitter", r"\bA{20,22}", r"[A-Za-z0-9%]{60,110}", "A" * 22 + sample(80)),
    vendor("dropbox", r"\bsl\.(?:u\.)?[A-Za-z0-9_\-]{20}", r"[A-Za-z0-9_\-]{100,}", "sl" + "." + sample(136, URL_SAFE)),
    vendor(
        "mapbox",
        r"\b[ps]k\.eyJ",
        r"[A-Za-z0-9]{50,}\.[A-Za-z0-9_\-]{22}\b",
        "sk" + ".eyJ" + sample(70) + "." + sample(22),
    ),
    vendor("adobe", r"\bp8e-", r"[A-Za-z0-9]{32}\b", "p8e" + "-" + sample(32)),
    vendor("duffel", r"\bduffel_(?:test|live)_", r"[A-Za-z0-9_\-=]{43}", "duffel" + "_live_" + sample(43)),
    vendor("frameio", r"\bfio-u-", r"[A-Za-z0-9_\-=]{64}", "fio" + "-u-" + sample(64)),
    vendor("facebook_app", r"\b\d{15,16}\|", r"[A-Za-z0-9_\-]{27,40}", sample(15, DIGITS) + "|" + sample(27)),
)
