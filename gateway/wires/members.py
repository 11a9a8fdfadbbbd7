"""Reads members of JSON objects that nothing has validated: one of another type than expected counts as absent."""

from typing import Any

from gateway.wires.base import Body


def object_at(body: Any, name: str) -> Body:
    """Returns the object under a name, else an empty one."""
    found = body.get(name) if isinstance(body, dict) else None
    return found if isinstance(found, dict) else {}


def objects_at(body: Any, name: str) -> list[Body]:
    """Returns the objects in the list under a name."""
    found = body.get(name) if isinstance(body, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def text_at(body: Any, name: str) -> str:
    """Returns the string under a name, else an empty one."""
    found = body.get(name) if isinstance(body, dict) else None
    return found if isinstance(found, str) else ""


def index_at(body: Body, name: str = "index", default: int = 0) -> int:
    """Returns the integer under a name, else the default."""
    found = body.get(name)
    return found if isinstance(found, int) else default
