"""Makes the files of the playground: page, Pyodide, and the installed gateway's own modules, each with its digest.

`vendor/` has what runs in browsers only; `scripts/playground_assets.py` fetches and builds it, with the hashes of
`requirements/playground.toml`.
"""

import json
import re
import zipfile
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha384
from importlib.metadata import distribution
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import regex

import gateway
from gateway.config.locations import BUILTIN_POLICIES
from gateway.policy.registry import PolicyRegistry

_HERE = Path(__file__).parent
_GATEWAY = Path(gateway.__file__).parent
_PAGE, VENDOR, _BROWSER = _HERE / "page", _HERE / "vendor", _HERE / "browser"
_MODULES = (
    *("__init__.py", "models.py", "errors.py", "ids.py", "surfaces/__init__.py", "surfaces/demo_text.py"),
    *("surfaces/demo_text.toml", "detection", "policy", "placeholders", "protection", "text", "destinations"),
    *("corrections", "http", "api/playground/browser"),
)
# Modules, and the packages that have them.
_PACKAGES = {
    "annotated_types": "annotated-types",
    "phonenumbers": "phonenumbers",
    "re2": "google-re2",
    "rfc8785": "rfc8785",
    "stdnum": "python-stdnum",
}
# Places, carriers and short numbers, which the gateway does not read, and the larger model of names.
_LEFT_OUT = (
    *("phonenumbers/geodata/", "phonenumbers/carrierdata/", "phonenumbers/tzdata/", "phonenumbers/shortdata/region_"),
    *("ner/model/card.json", "ner/model/characters.json", "ner/model/tokenizer.json"),
)
_SUFFIXES = frozenset({".py", ".toml", ".json", ".txt", ".dat"})
# Modules of the browser in place of others.
_STAND_INS = {
    "_re2.py": "re2/_re2.py",
    "orjson.py": "orjson.py",
    "ahocorasick_rs.py": "ahocorasick_rs.py",
    "graphemes.py": "gateway/detection/graphemes.py",
}
_GRAPHEMES = {
    **{
        name: rf"\p{{GCB={name}}}"
        for name in ("Control", "Extend", "SpacingMark", "Prepend", "L", "V", "T", "LV", "LVT")
    },
    **{"Linker": r"\p{InCB=Linker}", "InCBExtend": r"\p{InCB=Extend}", "Consonant": r"\p{InCB=Consonant}"},
    **{"Pictographic": r"\p{Extended_Pictographic}", "Regional": r"\p{RI}"},
}
# So that the same gateway gives the same bytes.
_TIME = (2020, 1, 1, 0, 0, 0)
ARCHIVE = "gateway.zip"
LICENCES = "licences.txt"
_NAMED = re.compile(r'(?:src|href)="(\w+\.(?:js|css))"')
_LICENCE = re.compile(r"(?:licen[cs]e|copying)[^/]*$", re.IGNORECASE)


@cache
def site() -> Mapping[str, bytes]:
    """Returns the files of the site by name."""
    files = {file.name: file.read_bytes() for file in VENDOR.iterdir()}
    page = (_PAGE / "index.html").read_text(encoding="utf-8")
    # The browser checks those that the page names, the page all others.
    own = {name: (_PAGE / name).read_bytes() for name in _NAMED.findall(page)}
    files |= {file.name: file.read_bytes() for file in _PAGE.glob("*.js") if file.name not in own}
    files["student.onnx"] = (_GATEWAY / "detection" / "ner" / "model" / "student.onnx").read_bytes()
    files[ARCHIVE] = _archive()
    listed = [{"name": name, "size": len(data), "integrity": integrity(data)} for name, data in sorted(files.items())]
    for name, data in own.items():
        page = page.replace(f'"{name}"', f'"{name}" integrity="{integrity(data)}"')
    page = page.replace("{{ assets }}", json.dumps(listed)).replace("{{ version }}", gateway.__version__)
    return {"index.html": page.encode(), **own, **files, LICENCES: _licences().encode()}


def integrity(data: bytes) -> str:
    """Returns a digest as browsers check it (Subresource Integrity)."""
    return f"sha384-{b64encode(sha384(data).digest()).decode()}"


def write_site(folder: Path) -> int:
    """Writes the site to a folder, which is made if there is none. Returns its bytes. Raises OSError."""
    files = site()
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return sum(map(len, files.values()))


def _licences() -> str:
    """Returns the licences of everything in the site: of the vendor folder, and of the packages in the archive."""
    texts = [(_HERE / LICENCES).read_text(encoding="utf-8")]
    for name in _PACKAGES.values():
        package = distribution(name)
        found = [file.read_text(encoding="utf-8") for file in package.files or () if _LICENCE.search(str(file))]
        title = f"{name} {package.version}"
        texts.append(f"{'=' * 80}\n{title}\n{'=' * 80}\n\n" + "\n\n".join(found))
    return "\n".join(texts)


def _archive() -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(_contents()):
            archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def _contents() -> Iterator[tuple[str, bytes]]:
    replaced = frozenset(_STAND_INS.values())
    listed = [(f"gateway/{name}", _GATEWAY / name) for name in _MODULES] + [(name, _folder(name)) for name in _PACKAGES]
    for name, place in listed:
        for file in _files(place):
            inside = name if file == place else f"{name}/{file.relative_to(place).as_posix()}"
            if inside not in replaced and not any(each in inside for each in _LEFT_OUT):
                yield inside, file.read_bytes()
    for package in ("gateway/api", "gateway/api/playground"):
        yield f"{package}/__init__.py", b""
    for name, target in _STAND_INS.items():
        yield target, (_BROWSER / name).read_bytes()
    yield "gateway/detection/graphemes.json", json.dumps(_grapheme_tables(), separators=(",", ":")).encode()
    builtin = [policy.document for policy in PolicyRegistry(BUILTIN_POLICIES).list()]
    yield "policies.json", json.dumps(builtin, ensure_ascii=False).encode()


def _files(place: Path) -> Iterable[Path]:
    found = [place] if place.is_file() else sorted(place.rglob("*"))
    return [file for file in found if file.suffix in _SUFFIXES and file.is_file() and "__pycache__" not in file.parts]


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"The package {package} is not installed.")
    return Path(spec.origin).parent


def _grapheme_tables() -> dict[str, list[int]]:
    """Returns where the ranges of characters with each property start and end, in turn."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    return {
        name: [edge for run in regex.finditer(f"{of}+", every) for edge in (ord(run[0][0]), ord(run[0][-1]) + 1)]
        for name, of in _GRAPHEMES.items()
    }
