"""Refuses expressions that make English prose sound translated, and prints each with what to write instead.

Looks at docstrings, comments and test names of Python, comments of TOML, shell and make, and Markdown outside code.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Found anywhere in prose.
TELLS = {
    r"nobody|no-one|whoever": "name the actor, or write `no one`",
    r"behind (?:an?|the|its|it|their|that) (?:label|word|name|value|number|text|colon|key|end|last|first)\w*": (
        "`after`, `following` or `next to`"
    ),
    r"(?:is|are) told by": "`is recognized by`",
    r"counts? for nothing": "`is ignored`",
    r"asks? of": "`requires`",
    r"(?:goes|going) on": "`continues`",
    r"stands? (?:alone|whole|open|there|so|in|at|behind|before|between|as)": "a form of `be`, or `appears`",
    r"cross(?:es|ed|ing)? (?:to|into|byte|unprotected|the gateway|as)|may cross|must not cross|what crosse[sd]": (
        "`is sent` or `leaves the machine`"
    ),
    r"of nobody": "name the actor",
}
# At the beginning of a docstring or comment.
OPENINGS = {
    r"(?:What|Whatever)\b(?!.*\?)": "begin with the verb or the thing itself",
    r"Of\b(?! course)": "begin with the verb or the thing itself",
    r"Those\b": "begin with the thing itself",
    r"One that\b": "begin with the thing itself",
}
TEST_NAMES = {
    r"nobody|whoever|whatever": "name the actor",
    r"cross(?:es|ed|ing)?": "`is_sent` or `leaves`",
    r"stands?": "a form of `be`",
    r"goes_on": "`continues`",
}

_ANYWHERE = [(re.compile(rf"\b(?:{tell})\b", re.IGNORECASE), advice) for tell, advice in TELLS.items()]
_FIRST = [(re.compile(tell), advice) for tell, advice in OPENINGS.items()]
_IN_NAMES = [(re.compile(rf"(?:^|_)(?:{tell})(?:_|$)"), advice) for tell, advice in TEST_NAMES.items()]

# Readers of the documentation meet none of the project's own words for sending.
_CROSSES = re.compile(r"\bcross(?:es|ed|ing)?\b", re.IGNORECASE)

_CODE = re.compile(r"`[^`\n]*`")

type Prose = tuple[int, str]
"""A paragraph and the number of its first line."""


def python_prose(source: str) -> Iterator[Prose]:
    """Yields the docstrings and comments of a module; consecutive comment lines are one paragraph."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    last, first, lines = -1, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1:
                if lines:
                    yield first, "\n".join(lines)
                first, lines = token.start[0], []
            last = token.start[0]
            lines.append(token.string.lstrip("#").strip())
    if lines:
        yield first, "\n".join(lines)


def test_names(source: str) -> Iterator[Prose]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name


def comments(source: str) -> Iterator[Prose]:
    """Yields the comments that fill a line, in formats that begin them with `#`."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("#"):
            yield number, line.lstrip("# \t")


def markdown_prose(source: str) -> Iterator[Prose]:
    """Yields the lines outside fenced code."""
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def tells_in(name: str, source: str) -> Iterator[tuple[int, str, str]]:
    """Yields line, expression and advice for each tell in a file."""
    kind = Path(name).suffix
    if kind == ".py":
        prose = [*python_prose(source)]
        for number, test in test_names(source):
            yield from (
                (number, found[0].strip("_"), advice) for tell, advice in _IN_NAMES if (found := tell.search(test))
            )
    elif kind == ".md":
        prose = [*markdown_prose(source)]
    else:
        prose = [*comments(source)]
    for number, paragraph in prose:
        text = _CODE.sub("``", paragraph)
        for tell, advice in _ANYWHERE:
            for found in tell.finditer(text):
                yield number + text.count("\n", 0, found.start()), found[0].replace("\n", " "), advice
        if kind == ".md":
            for found in _CROSSES.finditer(text):
                yield number, found[0], "`is sent` or `leaves the machine`"
        else:
            for tell, advice in _FIRST:
                if found := tell.match(text.strip()):
                    yield number, found[0], advice


def files() -> Iterator[Path]:
    skipped = {".git", ".venv", ".venv-lock", "data", "__pycache__", "vectors"}
    # Records of what was, texts of others, and the two files that list the expressions.
    exempt = {"CHANGELOG.md", "licences.md", "prose.py", "test_prose.py"}
    for path in sorted(ROOT.rglob("*")):
        is_text = path.suffix in {".py", ".md", ".toml", ".sh"} or path.name == "Makefile"
        if is_text and path.name not in exempt and skipped.isdisjoint(path.relative_to(ROOT).parts):
            yield path


def main() -> int:
    count = 0
    for path in files():
        for number, expression, advice in tells_in(path.name, path.read_text(encoding="utf-8")):
            count += 1
            print(f'{path.relative_to(ROOT)}:{number}: "{expression}": write {advice}')
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
