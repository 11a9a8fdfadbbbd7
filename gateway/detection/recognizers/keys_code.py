"""Keys of code hosts, package registries, build services and developers' tools."""

from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._samples import HEX, LOWER, URL_SAFE, sample
from gateway.detection.recognizers._token_checks import github_crc, macaroon, trailing_crc
from gateway.detection.recognizers._vendor import API_KEY, announced, vendor
from gateway.detection.recognizers.secrets._value_classifier import is_made


def _short_artifactory(value: str) -> bool | None:
    """Cut-off and stand-in forms are treated as keys too, unless they could be a name out of a program."""
    body = value[3:]
    low = body.islower() and not set(body) & set("aeiou")
    return None if low or (sum(map(str.isdigit, body)) >= 2 and is_made(value)) else False


RECOGNIZERS = (
    vendor(
        "github",
        r"\bgh[pousr]_",
        r"[A-Za-z0-9]{36,255}\b",
        "ghp" + "_" + sample(36),
        "gho" + "_" + sample(36),
        check=github_crc,
    ),
    vendor(
        "github_fine_grained",
        r"\bgithub_pat_",
        r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
        "github" + "_pat_" + sample(22) + "_" + sample(59),
    ),
    vendor(
        "gitlab",
        r"\bgl(?:pat|dt|rt|rtr|ft|ffct|wt|psat|deploy)-",
        r"[A-Za-z0-9_\-]{20,22}",
        "glpat" + "-" + sample(20),
        exact=True,
    ),
    vendor(
        "gitlab_routable",
        r"\bgl(?:pat|dt|rt|rtr|ft|wt)-",
        r"(?:t\d_)?[A-Za-z0-9_\-]{27,300}\.(?:[0-9a-z]{2}\.)?[0-9a-z]{7,9}\b",
        "glpat" + "-" + sample(27) + "." + sample(9, LOWER),
        "glrt" + "-t1_" + sample(27) + "." + sample(9, LOWER),
    ),
    vendor(
        "gitlab_job", r"\bglcbt-", r"(?:[0-9a-zA-Z]{1,5}_)?[A-Za-z0-9_\-]{20}", "glcbt" + "-" + sample(20), exact=True
    ),
    vendor("gitlab_trigger", r"\bglptt-", r"[A-Za-z0-9_\-]{40}", "glptt" + "-" + sample(40, HEX), exact=True),
    vendor("gitlab_mail", r"\bglimt-", r"[A-Za-z0-9_\-]{25}", "glimt" + "-" + sample(25), exact=True),
    vendor("gitlab_scim", r"\bglsoat-", r"[A-Za-z0-9_\-]{20,50}", "glsoat" + "-" + sample(20), exact=True),
    vendor("gitlab_agent", r"\bglagent-", r"[A-Za-z0-9_\-]{50,}", "glagent" + "-" + sample(50), exact=True),
    vendor("gitlab_oauth", r"\bgloas-", r"[A-Za-z0-9_\-]{64}", "gloas" + "-" + sample(64), exact=True),
    vendor("gitlab_runner", r"\bGR1348941", r"[A-Za-z0-9_\-]{20,22}", "GR13" + "48941" + sample(20), exact=True),
    vendor(
        "atlassian",
        r"\bAT(?:ATT3|CTT3|BB)",
        r"[A-Za-z0-9_\-=]{24,250}",
        "ATATT3" + "xFfGF0" + sample(180, URL_SAFE),
        check=trailing_crc,
    ),
    vendor("npm", r"\bnpm_", r"[A-Za-z0-9]{36}\b", "npm" + "_" + sample(36), check=github_crc),
    vendor(
        "pypi",
        r"\bpypi-AgE",
        r"[A-Za-z0-9_\-]{50,}",
        "pypi" + "-AgEIcHlwaS5vcmc" + sample(120, URL_SAFE),
        check=macaroon,
    ),
    vendor("rubygems", r"\brubygems_", r"[0-9a-f]{48}\b", "rubygems" + "_" + sample(48, HEX)),
    vendor("crates", r"\bcio[A-Za-z0-9]{8}", r"[A-Za-z0-9]{24}\b", "cio" + sample(32)),
    vendor("nuget", r"\boy2[a-z0-9]{8}", r"[a-z0-9]{35}\b", "oy2" + sample(43, LOWER)),
    vendor("clojars", r"\bCLOJARS_", r"[a-z0-9]{60}\b", "CLOJARS" + "_" + sample(60, LOWER)),
    vendor("docker", r"\bdckr_(?:pat|oat)_", r"[A-Za-z0-9_\-]{27,40}", "dckr" + "_pat_" + sample(27, URL_SAFE)),
    vendor("artifactory", r"\bAKCp", r"[A-Za-z0-9]{66,75}\b", "AKCp" + sample(69)),
    PatternRecognizer(
        "api_key.artifactory_short",
        API_KEY,
        (
            Pattern(
                r"(?:^|[\s=:\"'])(AKC[A-Za-z0-9]{10,80}|AP[0-9A-F][A-Za-z0-9]{8,80})(?:[\s\"']|$)",
                0.8,
                group=1,
                gate=r"\bA(?:KC|P[0-9A-F])[A-Za-z0-9]{8}",
            ),
        ),
        validator=_short_artifactory,
        examples=(Example("X-JFrog-Art-Api: " + "AP6" + sample(20, LOWER), "AP6" + sample(20, LOWER)),),
        counter_examples=("APCoreDataManager", "testAKCwithinsomeotherstring", "APPLICATIONS"),
    ),
    vendor("artifactory_reference", r"\bcmVmd", r"[A-Za-z0-9]{59}\b", "cmVmd" + sample(59)),
    vendor(
        "postman",
        r"\bPMAK-",
        r"[0-9a-f]{24}-[0-9a-f]{34}\b",
        "PMAK" + "-" + sample(24, HEX) + "-" + sample(34, HEX),
    ),
    vendor("linear", r"\blin_(?:api|oauth)_", r"[A-Za-z0-9]{40,64}\b", "lin" + "_api_" + sample(40)),
    vendor(
        "notion",
        r"\b(?:ntn_|secret_)[A-Za-z0-9]{10}",
        r"[A-Za-z0-9]{33,40}\b",
        "ntn" + "_" + sample(46),
        "secret" + "_" + sample(43),
    ),
    vendor("figma", r"\bfig[dou]r?_", r"[A-Za-z0-9_\-]{40,}", "figd" + "_" + sample(40, URL_SAFE)),
    vendor("airtable", r"\bpat[A-Za-z0-9]{14}\.", r"[0-9a-f]{64}\b", "pat" + sample(14) + "." + sample(64, HEX)),
    vendor("sonar", r"\bsq[upa]_", r"[0-9a-f]{40}\b", "squ" + "_" + sample(40, HEX)),
    vendor(
        "circleci",
        r"\bCCI(?:PAT|PRJ)_",
        r"[A-Za-z0-9]{10,24}_[0-9a-f]{40}\b",
        "CCIPAT" + "_" + sample(22) + "_" + sample(40, HEX),
    ),
    vendor("buildkite", r"\bbkua_", r"[0-9a-f]{40}\b", "bkua" + "_" + sample(40, HEX)),
    vendor("netlify", r"\bnf[pocub]_", r"[A-Za-z0-9]{36,40}\b", "nfp" + "_" + sample(36)),
    vendor("vercel", r"\bvc[pkicra]_", r"[A-Za-z0-9]{24,60}\b", "vcp" + "_" + sample(56)),
    vendor("render", r"\brnd_", r"[A-Za-z0-9]{28,40}\b", "rnd" + "_" + sample(28)),
    vendor("typeform", r"\btfp_", r"[A-Za-z0-9_\-.=]{40,60}", "tfp" + "_" + sample(59, URL_SAFE)),
    vendor("contentful", r"\bCFPAT-", r"[A-Za-z0-9_\-]{43}\b", "CFPAT" + "-" + sample(43)),
    vendor("readme", r"\brdme_", r"[a-z0-9]{70}\b", "rdme" + "_" + sample(70, LOWER)),
    vendor("prefect", r"\bpn[ub]_", r"[A-Za-z0-9]{36}\b", "pnu" + "_" + sample(36)),
    announced(
        "snyk",
        r"snyk",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "1e5b7c20-8f4a-4b69-a3d2-6c9e0f17d845",
    ),
    announced("okta", r"okta", r"00[A-Za-z0-9_\-]{40}", "00" + sample(40)),
    announced("codecov", r"codecov", r"[a-z0-9]{32}", sample(32, LOWER)),
)
