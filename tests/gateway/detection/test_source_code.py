"""Source code is told from prose by its syntax; comments and strings are prose."""

import json
from pathlib import Path

import pytest

from benchmarks.clean_text import is_within
from gateway.detection.source_code import SourceCode, Stretch

ROOT = Path(__file__).resolve().parents[3]
CODE = {
    "python": "import os\n\n\ndef run(a):\n    # {c}\n    x = call(a, '{s}')\n    return {i}.path\n",
    "c": '#include <stdio.h>\n\nint main(void) {{\n    /* {c} */\n    printf("{s}");\n    return {i}(0);\n}}\n',
    "javascript": "const a = require('{s}');\n// {c}\nfunction run(b) {{\n  return {i}.map((x) => x + 1);\n}}\n",
    "rust": 'use std::io;\n\nfn main() {{\n    // {c}\n    let x = "{s}";\n    {i}::run(&x);\n}}\n',
    "sql": "SELECT a, b FROM {i} WHERE a = '{s}';\n-- {c}\nUPDATE t SET b = 2 WHERE c = 3;\n",
    "fenced": 'Prose before.\n\n```go\n// {c}\nvar {i} = "{s}"\n```\n\nProse after.\n',
    "one line of python": "result = {i}.path.join(base, '{s}')  # {c}",
    "shell": 'if [ -n "$1" ]; then\n  # {c}\n  {i} "$1" | sort > "{s}"\n  exit 1\nfi\n',
    "css": ".box > {i} {{\n  color: #00aaff;\n  /* {c} */\n  content: '{s}';\n}}\n",
    "markup": "// {c}\nconst {i} = (row) => {{\n  return (<p key={{row.id}}>{s}</p>);\n}};\n",
    "go": "func Run(a int) ({i}, error) {{\n\t// {c}\n\treturn build(a, `{s}`)\n}}\n",
    "a variable in a string": 'echo "it is ${{{i}}} now"; [ -z "$1" ] && exit 1\nprintf "{s}" # {c}\n',
    "docstring": 'def run(a):\n    """Return the sum.\n\n    {c}\n    """\n    return {i}(a, "{s}")\n',
    "comment of several lines": '/*\n   {c} wrote this in spring.\n*/\nint {i}(void) {{\n  return f("{s}");\n}}\n',
    "diff": "--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,4 @@\n import os\n+# {c}\n+x = {i}.run('{s}')\n-y = 2\n",
    "inline code": "{c} asked whether `{i}.run(x)` is right; {s} says so.",
    "numbered": "  1\timport os\n   2\tdef run(a):\n   3\t    # {c}\n   4\t    x = f('{s}')\n   5\t    return {i}()\n",
}


def code_stretches(text: str) -> list[Stretch]:
    """All stretches, which are the same as those that are asked for one by one."""
    stretches, code = list(SourceCode(text).within(0, len(text))) if text else [], SourceCode(text)
    assert [code.has(at, at + 1) for at in range(len(text))] == [
        is_within(stretches, at, at + 1) for at in range(len(text))
    ]
    return stretches


@pytest.mark.parametrize("kind", CODE)
def test_identifiers_are_code_and_comments_and_strings_are_not(kind: str) -> None:
    text = CODE[kind].format(c="Comment", s="String", i="Name")
    stretches = code_stretches(text)
    assert is_within(stretches, text.index("Name"), text.index("Name") + 4)
    for word in ("Comment", "String", *(["before", "after"] if kind == "fenced" else [])):
        assert not is_within(stretches, text.index(word), text.index(word) + len(word))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Please write to Anna, and tell her (if she asks) that we meet on Monday.",
        "Name: Anna Schmidt\nCity: Berlin\nPhone: 030 1234567\n",
        "- call Anna\n- write to Jonas (today)\n- book a room\n",
        "| name | city |\n|---|---|\n| Anna | Berlin |\n",
        "Dear Anna,\n\nthank you for your letter; I have read it.\n\nYours,\nJonas\n",
        "```\nDear Anna, this is quoted prose that someone put into a fence.\n```\n",
        '```json\n{"name": "Anna"}\n```\n',
        "thanks @anna_b and @JonasKeller for the help :-)",
        "name,city,score\nAnna Schmidt,Berlin,3\nJonas Keller,Ulm,5\n",
        "2026-01-10 04:55:04 INFO Anna Schmidt logged in from Berlin\n",
        "user.name = Anna Schmidt\nuser.city = Berlin\n",
        "owner: Anna Schmidt\nmembers:\n  - Jonas Keller\n",
        "पड़ोसन कमला देवी ने चाबियाँ माँगीं।",
        "독고영재 부장이 승인했다",
        "`Anna Schmidt` wrote it.",
    ],
)
def test_prose_is_no_code(text: str) -> None:
    assert not code_stretches(text)


def test_this_project_is_code_and_its_licence_is_not() -> None:
    source = (ROOT / "gateway/protection/protector.py").read_text()
    assert sum(end - start for start, end in code_stretches(source)) > len(source) / 2
    assert not code_stretches((ROOT / "LICENSE").read_text())


def test_stretches_are_in_order_and_disjoint() -> None:
    text = "".join(
        CODE[kind].format(c="c", s="s", i="i") + "Some plain words follow here, as always.\n" for kind in CODE
    )
    stretches = code_stretches(text)
    edges = [edge for stretch in stretches for edge in stretch]
    assert edges == sorted(edges)
    assert all(start < end for start, end in stretches)


@pytest.mark.parametrize("unit", ["x = f(", "'", '"', "`", "/*", "# ", "<!--", "a.b.", "```\n", "\n", "0\t", "{};"])
def test_hostile_texts_cost_no_more_than_their_length(unit: str) -> None:
    """Counted in stretches found, since a machine's speed says nothing."""
    assert len(code_stretches(unit * 2000)) <= 2000 * len(unit)


def test_a_span_is_within_code_if_they_overlap() -> None:
    assert is_within([(2, 5), (8, 9)], 4, 6)
    assert is_within([(2, 5), (8, 9)], 0, 20)
    assert not is_within([(2, 5), (8, 9)], 5, 8)
    assert not is_within([], 0, 1)


def test_a_document_in_json_is_no_code() -> None:
    assert not code_stretches(json.dumps({"name": "Anna"}))
