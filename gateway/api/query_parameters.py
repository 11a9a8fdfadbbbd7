"""The query parameters of native routes."""

import re
from typing import Annotated, get_origin

from fastapi import Query, Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel, BeforeValidator

from gateway.receipts.filters import Filter


def _decimal(text: object) -> object:
    """Rejects all but decimal digits: parsers disagree on `1.0`, `+1`, `1_0` and digits of other scripts."""
    if isinstance(text, str) and not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise ValueError("Input should be a whole number in decimal digits")
    return text


Limit = Annotated[
    int, Query(ge=1, le=500, description="Maximum number of entries in the page."), BeforeValidator(_decimal)
]
Offset = Annotated[
    int, Query(ge=0, le=2**53, description="Number of entries to skip before the page."), BeforeValidator(_decimal)
]
type PolicyHash = Annotated[
    str,
    Query(
        pattern=r"^[0-9a-f]{64}$",
        description="Selects the version with this `hash`, as a receipt names it, instead of the newest.",
        default_factory=str,  # Unlike a plain default, this does not appear in the OpenAPI document.
    ),
]


class FilteredPage(Filter):
    """A page of what the filter selects."""

    limit: Limit = 50
    offset: Offset = 0


type Selected = Annotated[Filter, Query()]
type SelectedPage = Annotated[FilteredPage, Query()]


def parameters_of(dependant: Dependant) -> dict[str, bool]:
    """Returns the names of a route's query parameters, each with whether it takes several values."""
    names: dict[str, bool] = {}
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            names |= {name: get_origin(each.annotation) is tuple for name, each in model.model_fields.items()}
        else:
            names[field.alias] = False
    return names


def target_of(request: Request) -> str:
    """Returns the path and the query."""
    return f"{request.url.path}?{request.url.query}"
