"""Locates the files that ship with the gateway, the default folders it writes to, and the authority's files there.

In a checkout, policies, `data` and `certs` are next to the code, whatever the working directory. An installed wheel has
the policies inside the package and writes to the user's data folder (`$XDG_DATA_HOME` or `~/.local/share` on Linux,
`~/Library/Application Support` on macOS, `%LOCALAPPDATA%` on Windows).
"""

import sys
from pathlib import Path
from shlex import quote

from platformdirs import user_data_path

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parent

# The folder of the gateway's packages: a checkout, or the folder that packages are installed in.
CODE = _CHECKOUT


def _is_here(folder: Path) -> bool:
    """Tells whether a folder is the working directory, where short paths lead to what is in it."""
    try:
        return Path.cwd() == folder
    except OSError:
        # It has been removed.
        return False


_PLACE = Path() if _is_here(_CHECKOUT) else _CHECKOUT

# Only the wheel has the policies inside the package; see `force-include` in pyproject.toml.
INSTALLED = (_PACKAGE / "policies").is_dir()
BUILTIN_POLICIES = (_PACKAGE if INSTALLED else _CHECKOUT) / "policies"
CERTIFICATE_GUIDE = _PACKAGE / "certs.md" if INSTALLED else _PLACE / "certs" / "README.md"

# The command as users type it: the name in usage texts, and the command in hints that they copy.
PROGRAM = "privacy-gateway" if INSTALLED else "run_proxy.py"
_HERE = f".venv/bin/python {PROGRAM}" if Path() == _PLACE else f"{quote(sys.executable)} {quote(str(_PLACE / PROGRAM))}"
COMMAND = PROGRAM if INSTALLED else _HERE


def default_folder(name: str) -> Path:
    """Returns the default path of the folder `name` (`data` or `certs`) without creating it."""
    return user_data_path("privacy-gateway", appauthor=False) / name if INSTALLED else _PLACE / name


def command_for(words: str, name: str, folder: Path) -> str:
    """Returns a command as users copy it, with the option for its folder `name` if that is not the default one."""
    path = folder.resolve()
    option = f" --{name}-dir {quote(str(path))}" if path != default_folder(name).resolve() else ""
    return f"{COMMAND} {words}{option}"


def certificate_of(folder: Path) -> Path:
    """Returns the path of the authority's certificate in `certs_dir`. mitmproxy chose its name."""
    return folder / "mitmproxy-ca-cert.pem"


def private_key_of(folder: Path) -> Path:
    """Returns the path of the file that holds the authority's private key and certificate."""
    return folder / "mitmproxy-ca.pem"


def bundle_of(folder: Path) -> Path:
    """Returns the path of the file that holds our authority and the public ones."""
    return folder / "ca-bundle.pem"


def trust_store_of(folder: Path) -> Path:
    """Returns the path of the file that holds the same in a form that Java reads."""
    return folder / "ca-bundle.p12"
