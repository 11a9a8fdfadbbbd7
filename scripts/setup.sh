#!/bin/sh
# Finds a Python that can run the gateway and has scripts/install.py install the locked packages into .venv.
# Usage: scripts/setup.sh [dev|runtime]      PYTHON=/path/to/python picks the interpreter.
set -eu
cd "$(dirname "$0")/.."
kind=${1:-dev}

# Nothing to do is the usual case, and asking the environment's own Python is the fastest way to know.
if [ -x .venv/bin/python ] && .venv/bin/python -I scripts/install.py --check "$kind" 2>/dev/null; then
    exit 0
fi

wanted=$(cat .python-version)
versions="$wanted $(printf '3.13\n3.14\n3.12\n' | grep -vxF "$wanted" | tr '\n' ' ')"

# Must be readable by any Python there ever was, so that an old one can say that it is too old.
probe='
import sys
if sys.version_info < (3, 12):
    print("is Python %d.%d" % sys.version_info[:2]); sys.exit(1)
missing = []
for name in ("venv", "ensurepip", "ssl", "sqlite3", "ctypes", "zlib"):
    try:
        __import__(name)
    except ImportError:
        missing.append(name)
if missing:
    print("is Python %d.%d without " % sys.version_info[:2] + ", ".join(missing)); sys.exit(1)
'

candidates() {
    if [ -n "${PYTHON:-}" ]; then
        printf '%s\n' "$PYTHON"
        return
    fi
    for version in $versions; do
        printf 'python%s\n' "$version"
    done
    printf 'python3\npython\n'
    # Installed but not on the path: pyenv's and uv's own.
    for root in "${PYENV_ROOT:-$HOME/.pyenv}/versions" "${XDG_DATA_HOME:-$HOME/.local/share}/uv/python"; do
        for version in $versions; do
            for folder in "$root/$version".* "$root/cpython-$version".*; do
                [ -x "$folder/bin/python3" ] && printf '%s\n' "$folder/bin/python3"
            done
        done
    done
    if command -v uv >/dev/null 2>&1; then
        uv python find --system --no-project '>=3.12' 2>/dev/null || true
    fi
}

found=
seen=
list=$(candidates)
while IFS= read -r candidate; do
    path=$(command -v "$candidate" 2>/dev/null) || continue
    if reason=$("$path" -Es -c "$probe" 2>/dev/null </dev/null); then
        found=$path
        break
    fi
    # Without a reason it did not run at all, as pyenv's shim of a version that is not selected.
    [ -n "$reason" ] && seen="$seen
  $path $reason"
done <<EOF
$list
EOF

if [ -z "$found" ]; then
    {
        echo "The gateway needs Python 3.12 or newer with venv, pip, ssl and sqlite3. None was found."
        if [ -n "${PYTHON:-}" ] && [ -z "$seen" ]; then
            echo "PYTHON names something that does not run as Python."
        fi
        [ -n "$seen" ] && echo "Looked at:$seen"
        echo "Any of these helps:"
        echo "  Debian, Ubuntu   apt install python3 python3-venv   (where that is 3.12 or newer)"
        echo "  Fedora           dnf install python3.13"
        echo "  macOS            brew install python@3.13"
        echo "  pyenv            pyenv install 3.13"
        echo "  uv               uv python install 3.13"
        echo "or name one yourself:  make setup PYTHON=/path/to/python3.13"
    } >&2
    exit 1
fi

command -v git >/dev/null 2>&1 || echo "note: git is not installed; the gateway runs, updating it needs git." >&2
exec "$found" -I scripts/install.py "$kind"
