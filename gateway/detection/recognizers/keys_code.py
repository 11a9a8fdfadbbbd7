"""Keys of code hosts, package registries, build services and developers' tools."""

from gateway.detection.recognizers._samples import HEX, LOWER, URL_SAFE, sample
from gateway.detection.recognizers._vendor import announced, vendor

RECOGNIZERS = (
    vendor(
        "github",
        r"\bgh[pousr]_",
        r"[A-Za-z0-9]{36,255}\b",
        "ghp" + "_" + sample(36),
        "gho" + "_" + sample(36),
    ),
    vendor(
        "github_fine_grained",
        r"\bgithub_pat_",
        r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
        "github" + "_pat_" + sample(22) + "_" + sample(59),
    ),
    vendor(
        "gitlab",
        r"\bgl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-",
        r"[A-Za-z0-9_\-=.]{20,300}",
        "glpat" + "-" + sample(20),
    ),
    vendor("gitlab_runner", r"\bGR1348941", r"[A-Za-z0-9_\-]{20}", "GR13" + "48941" + sample(20)),
    vendor(
        "atlassian",
        r"\bAT(?:ATT3|CTT3|BB)",
        r"[A-Za-z0-9_\-=]{24,250}",
        "ATATT3" + "xFfGF0" + sample(180, URL_SAFE),
    ),
    vendor("npm", r"\bnpm_", r"[A-Za-z0-9]{36}\b", "npm" + "_" + sample(36)),
    vendor(
        "pypi", r"\bpypi-AgE", r"[A-Za-z0-9_\-]{50,}", "pypi" + "-AgEIcHlwaS5vcmc" + sample(120, URL_SAFE)
    ),
    vendor("rubygems", r"\brubygems_", r"[0-9a-f]{48}\b", "rubygems" + "_" + sample(48, HEX)),
    vendor("crates", r"\bcio[A-Za-z0-9]{8}", r"[A-Za-z0-9]{24}\b", "cio" + sample(32)),
    vendor("nuget", r"\boy2[a-z0-9]{8}", r"[a-z0-9]{35}\b", "oy2" + sample(43, LOWER)),
    vendor("clojars", r"\bCLOJARS_", r"[a-z0-9]{60}\b", "CLOJARS" + "_" + sample(60, LOWER)),
    vendor(
        "docker", r"\bdckr_(?:pat|oat)_", r"[A-Za-z0-9_\-]{27,40}", "dckr" + "_pat_" + sample(27, URL_SAFE)
    ),
    vendor("artifactory", r"\bAKCp", r"[A-Za-z0-9]{66,75}\b", "AKCp" + sample(69)),
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
    vendor(
        "airtable", r"\bpat[A-Za-z0-9]{14}\.", r"[0-9a-f]{64}\b", "pat" + sample(14) + "." + sample(64, HEX)
    ),
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
