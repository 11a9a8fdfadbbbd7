"""Reads the paths of Vertex AI, which name a publisher's model in a project and a region."""

import re

_BEFORE = re.compile(
    r"(?:/(?P<version>v\d+(?:alpha|beta)?\d*))?(?P<place>(?:/projects/[^/]+(?:/locations/[^/]+)?)?)\Z", re.ASCII
)


def publisher_path(publisher: str, *methods: str) -> re.Pattern[str]:
    """Returns an expression for the calls of a publisher's models, also below the path of a base URL."""
    return re.compile(
        rf"(?P<before>(?:/[\w-][\w.:-]*)*?)/publishers/{publisher}/models/(?P<model>[\w@][\w@.:+-]*)"
        rf":(?P<method>{'|'.join(methods)})\Z",
        re.ASCII,
    )


def below_base_url(called: re.Match[str], publisher: str, model: str) -> str:
    """Returns the path of a call below an upstream's base URL, with its project and region."""
    found = _BEFORE.search(called["before"])
    version, place = (found["version"], found["place"]) if found else (None, "")
    return f"{version or 'v1'}{place}/publishers/{publisher}/models/{model}:{called['method']}"
