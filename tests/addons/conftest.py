"""mitmproxy is loaded here once: it and what it brings along use deprecated names of others while they are imported."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import mitmproxy.addons
    import mitmproxy.tools.web.master  # noqa: F401
