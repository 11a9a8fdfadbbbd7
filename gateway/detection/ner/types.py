"""Maps the model's labels to entity types, using the recognizers' types where they exist."""

from collections.abc import Mapping
from types import MappingProxyType

from gateway.detection.recognizer import EntityType

LOCATION = EntityType("LOCATION", "address", "A city, region, country or other place.")
ORGANIZATION = EntityType("ORGANIZATION", "organization", "A company, authority, team or other organization.")

# Label -> the recognizers' type for the same thing.
_RECOGNIZER_TYPES = {
    "PERSON": "PERSON",
    "ADDRESS": "STREET_ADDRESS",
    "DATE_OF_BIRTH": "DATE_OF_BIRTH",
    "AGE": "AGE",
    "USERNAME": "USERNAME",
    "MEDICAL_RECORD": "MEDICAL_RECORD_NUMBER",
    "ID": "ID_NUMBER",
}


def label_types(known: Mapping[str, EntityType]) -> Mapping[str, EntityType]:
    """Returns the entity type for each label of the model. `known` are the recognizers' types."""
    return MappingProxyType(
        {
            "LOCATION": LOCATION,
            "ORGANIZATION": ORGANIZATION,
            **{label: known[name] for label, name in _RECOGNIZER_TYPES.items() if name in known},
        }
    )
