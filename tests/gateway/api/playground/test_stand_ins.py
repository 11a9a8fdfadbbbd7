"""The browser's replacements for compiled packages return what the packages return."""

import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import ahocorasick_rs
import orjson
import pytest
import re2

from gateway.api.playground import site
from gateway.detection import graphemes

BROWSER = Path(site.__file__).parent / "browser"


def stand_in(name: str, folder: Path = BROWSER) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"stand_in_{name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_graphemes(tmp_path: Path) -> None:
    (tmp_path / "graphemes.py").write_bytes((BROWSER / "graphemes.py").read_bytes())
    (tmp_path / "graphemes.json").write_text(json.dumps(site._grapheme_tables()), encoding="utf-8")
    ours = stand_in("graphemes", tmp_path)
    signs = (
        "ab \r\n\u0301\u200d\u0903\u0600\u1100\u1161\u11a8\uac00\uac01क\u094dषत\u093c👩👧❤\ufe0f🏽🇩🇪\u00ad\U0001f3f4"
    )
    chosen = random.Random(7)
    for length in (2, 3, 5, 9, 40, 80):
        for _ in range(400):
            text = "".join(chosen.choices(signs, k=length))
            at = chosen.randrange(1, length)
            assert ours.is_boundary(text, at) is graphemes.is_boundary(text, at), (ascii(text), at)


def test_aho_corasick() -> None:
    words = [b"ana", b"an", b"banana", b"n", b"x"]
    text = b"bananas and an ananas"
    ours = stand_in("ahocorasick_rs").BytesAhoCorasick(words).find_matches_as_indexes(text, True)
    theirs = ahocorasick_rs.BytesAhoCorasick(words).find_matches_as_indexes(text, True)
    assert sorted(ours) == sorted(theirs)


@pytest.mark.parametrize("value", [{"ä": [1, 2.5, None, True]}, "\u2028\x7f\n", [], 0, -1.5e300])
def test_orjson(value: object) -> None:
    ours = stand_in("orjson")
    assert ours.loads(ours.dumps(value)) == orjson.loads(orjson.dumps(value))
    with pytest.raises(ours.JSONEncodeError):
        ours.dumps({"a": {1, 2}})


def test_escaping_for_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ModuleType("svc_re2")
    vars(engine).update(match=None, match_set=None)
    monkeypatch.setitem(sys.modules, "svc_re2", engine)
    quote = stand_in("_re2").RE2.QuoteMeta
    for text in ("a_b-c.d(é)\x00[x]", "", "日本 1"):
        assert quote(text.encode()).decode() == re2.escape(text)
