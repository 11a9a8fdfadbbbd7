"""Adapts mitmweb's page to the gateway: no modes and options that do not apply, and errors that operators see.

Upstream would have to let a program choose which tabs and options the page has, and show errors of its own requests.
"""

from pathlib import Path
from typing import Any

from mitmproxy import exceptions
from mitmproxy.tools.web import app

from addons.options import FREE
from addons.patches.mitmweb_operators import current_operator

CHECKED_WITH = "12.2.3"

_FILES = {f"page{kind}": Path(__file__).with_suffix(kind) for kind in (".css", ".js")}
# The words of mitmproxy's log-in page, and ours.
_LOGIN = {
    "<title>mitmproxy<": "<title>Privacy Gateway<",
    "403 Invalid Password": "Wrong token",
    "403 Authentication Required": "Sign in",
    "To access mitmproxy, please enter the password or authentication token printed in the console.": (
        "Enter your token, or the one in the address that the gateway shows at its start."
    ),
}
_TYPES = {".css": "text/css", ".js": "text/javascript"}


class Page(app.IndexHandler):
    """The page, with our style and script in it."""

    def get(self) -> None:
        limit, operator = self.settings["body_limit"], current_operator()
        added = (
            '<link rel="stylesheet" href="./gateway/page.css">'
            f'<script src="./gateway/page.js" data-limit="{limit}" data-operator="{operator}"></script></head>'
        )
        page = self.render_string("../index.html").decode()
        self.finish(page.replace("</head>", added).replace("<title>mitmproxy", "<title>Privacy Gateway"))

    post = get

    def auth_fail(self, invalid_password: bool) -> None:
        page = self.render_string("login.html", invalid_password=invalid_password).decode()
        for before, after in _LOGIN.items():
            page = page.replace(before, after)
        self.finish(page)


class SignOut(app.RequestHandler):
    """Ends the session of the browser: its cookie, wherever it is, opens nothing any more."""

    def post(self) -> None:
        name = self.settings["auth_cookie_name"]()
        self.settings["operators"].end(self.get_signed_cookie(name, min_version=2))
        for each in tuple(app.ClientConnection.connections):
            if each.get_cookie(name) == self.get_cookie(name):
                each.close()
        self.clear_cookie(name)


class PageFile(app.RequestHandler):
    """Our style and script."""

    def get(self, name: str) -> None:
        path = _FILES[name]
        self.set_header("Content-Type", _TYPES[path.suffix])
        self.finish(path.read_bytes())


class Options(app.Options):
    """The options that operators may change; the others are not theirs."""

    def get(self) -> None:
        self.write(applicable(app.optmanager.dump_dicts(self.master.options)))


class State(app.State):
    """mitmweb's state without the listeners, which are set in the gateway's settings."""

    def get(self) -> None:
        self.write(app.State.get_json(self.master) | {"servers": {}})


class Replay(app.RequestHandler):
    """Says that requests cannot be replayed."""

    def post(self, flow_id: str) -> None:
        try:
            self.master.commands.call("replay.client", [self.flow])
        except exceptions.CommandError as error:
            raise app.APIError(409, str(error)) from None


class Absent(app.RequestHandler):
    """In place of the programs of this machine, whose traffic mitmproxy could capture."""

    def get(self) -> None:
        raise app.APIError(404, "The gateway captures no traffic of other programs.")


HANDLERS: list[Any] = [
    (r"/", Page),
    (r"/gateway/(page\.css|page\.js)", PageFile),
    (r"/gateway/sign-out", SignOut),
    (r"/options(?:\.json)?", Options),
    (r"/state(?:\.json)?", State),
    (r"/flows/(?P<flow_id>[0-9a-f\-]+)/replay", Replay),
    (r"/processes|/executable-icon", Absent),
]


def applicable(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options, by name, that operators may change."""
    return {name: value for name, value in options.items() if name in FREE}
