"""Counts what a reader of the path of a chat meets: named types, and calls between the processes.

Counted are the product's classes of which a request makes, carries or passes a value: those that the signatures and
fields of the modules on the path name. Parts that live as long as the process, which constructors take, do not count.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.tree_figures import ROOT, Figure, report

MOST_TYPES = 28
MOST_CALLS = 6

# From the listener's hooks to the restored answer.
PATH = (
    "addons/protect.py",
    "addons/flow_state.py",
    "gateway/exchange/messages.py",
    "gateway/server/dispatcher.py",
    "gateway/exchange/admit.py",
    "gateway/exchange/state.py",
    "gateway/exchange/protect.py",
    "gateway/exchange/answer.py",
)
MESSAGES, PROTOCOL = "gateway/exchange/messages.py", "Gateway"
# Belong to a connection, or to a request that its client or the listener ends.
_NOT_OF_A_CHAT = frozenset({"check_proxy_key", "caller_of", "note", "disconnected"})


def types_on_path(root: Path = ROOT, path: Sequence[str] = PATH) -> set[str]:
    """Returns the names of the product's classes on the path."""
    product = [_tree(file) for place in ("gateway", "addons") for file in sorted((root / place).rglob("*.py"))]
    classes = {node.name for tree in product for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    return {name for module in path for name in _named(_tree(root / module)) if name in classes}


def calls_of_chat(root: Path = ROOT) -> list[str]:
    """Returns the methods by which a listener asks the gateway for something in a chat."""
    tree = _tree(root / MESSAGES)
    (protocol,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == PROTOCOL)
    methods = [node.name for node in protocol.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [name for name in methods if name not in _NOT_OF_A_CHAT]


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _named(tree: ast.Module) -> Iterator[str]:
    """Yields the names in annotations that the module defines or imports from the product."""
    own = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        # The module of types has aliases only.
        product = isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("gateway.", "addons."))
        if isinstance(node, ast.ImportFrom) and product and node.module != "gateway.http.types":
            own |= {each.asname or each.name for each in node.names}
    for annotation in _annotations(tree):
        yield from (name for name in _names(annotation) if name in own)


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and child.name == "__init__":
            continue
        if isinstance(child, ast.AnnAssign | ast.arg) and child.annotation is not None:
            yield child.annotation
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and child.returns is not None:
            yield child.returns
        yield from _annotations(child)


def _names(annotation: ast.expr) -> Iterator[str]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A forward reference.
            yield from _names(ast.parse(node.value, mode="eval").body)


def figures() -> list[Figure]:
    return [
        Figure("named types on the path of a chat", len(types_on_path()), MOST_TYPES),
        Figure("kinds of calls that a chat uses", len(calls_of_chat()), MOST_CALLS),
    ]


if __name__ == "__main__":
    sys.exit(report(figures()))
