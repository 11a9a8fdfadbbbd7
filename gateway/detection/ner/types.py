"""The model's labels as entity types, those of the recognizers wherever they have one."""

from collections.abc import Mapping
from types import MappingProxyType

from gateway.detection.recognizer import EntityType

LOCATION = EntityType("LOCATION", "address", "A city, region, country or other place.")
ORGANIZATION = EntityType("ORGANIZATION", "organization", "A company, authority, team or other organisation.")

# Label -> the type of a recognizer that finds the same.
_SHARED = {
    "PERSON": "PERSON",
    "ADDRESS": "STREET_ADDRESS",
    "DATE_OF_BIRTH": "DATE_OF_BIRTH",
    "AGE": "AGE",
    "USERNAME": "USERNAME",
    "MEDICAL_RECORD": "MEDICAL_RECORD_NUMBER",
    "ID": "ID_NUMBER",
}


def label_types(known: Mapping[str, EntityType]) -> Mapping[str, EntityType]:
    """The type for each label of the model; `known` are the types of the recognizers."""
    return MappingProxyType(
        {
            "LOCATION": LOCATION,
            "ORGANIZATION": ORGANIZATION,
            **{label: known[name] for label, name in _SHARED.items() if name in known},
        }
    )
