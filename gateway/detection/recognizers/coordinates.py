"""Geographic coordinates (ISO 6709, RFC 5870). With enough decimals, they amount to a home address."""

import re

from gateway.detection.entropy import phrases
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

COORDINATES = EntityType("COORDINATES", "address", "A place given by latitude and longitude.")

_LATITUDE = r"[+\-]?(?:[1-8]?\d|90)\.\d{3,}"
_LONGITUDE = r"[+\-]?(?:1[0-7]\d|180|[1-9]?\d)\.\d{3,}"
# Labelled coordinates: a pair, or a single one accurate to a house.
_LAT = r"(?:lat(?:itude?|itudine)?|breite(?:ngrad)?)"
_LON = r"(?:lon|lng|long(?:itude?|itudine)?|l(?:ä|ae)nge(?:ngrad)?)"
_IS = r"[\"']?\s{0,2}[:=>]\s{0,2}[\"']?"
_CALLED = rf"(?:{_IS}|[ \t]{{1,3}}(?:(?:is|of|von)[ \t])?)"
_NEXT = r"(?:°? ?[NSEWO]\b)?°?[\"']?(?:[,;&\s]{1,4}|</[\w:]{1,16}>\s{0,8}<|,? and |,? und )[\"']?"
_PAIRS = (
    rf"(?i)\b{_LAT}{_CALLED}({_LATITUDE}){_NEXT}{_LON}{_CALLED}({_LONGITUDE})\b",
    rf"(?i)\b{_LON}{_CALLED}({_LONGITUDE}){_NEXT}{_LAT}{_CALLED}({_LATITUDE})\b",
)
_PAIR_PREFILTER = rf"(?i)\b{_LAT}{_CALLED}[+\-]?\d{{1,2}}\.\d{{3}}"
_FINE_LATITUDE = r"[+\-]?[1-9]\d?\.\d{5,}"
_FINE_LONGITUDE = r"[+\-]?[1-9]\d{0,2}\.\d{5,}"
_DEGREES = r"\d{1,3}[°º] ?(?:\d{1,2}(?:\.\d+)?['′] ?(?:\d{1,2}(?:\.\d+)?(?:\"|''|″) ?)?)?"
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")


def _on_earth(value: str) -> bool | None:
    """Checks for at most 90 and 180 degrees, and for enough decimals to tell a street from a city."""
    latitude, longitude = (float(part) for part in _NUMBERS.findall(value)[:2])
    decimals = min(len(part.partition(".")[2]) for part in _NUMBERS.findall(value)[:2])
    return None if latitude <= 90 and longitude <= 180 and (latitude or longitude) and decimals >= 3 else False


RECOGNIZERS = (
    PatternRecognizer(
        "coordinates.decimal",
        COORDINATES,
        (
            Pattern(
                rf"(?:^|[^\w.\-+])({_LATITUDE}°? ?[NSns]?[,;/ ] ?{_LONGITUDE}°?(?: ?[EWOewo]\b)?)"
                r"(?:$|[^\w.°]|\.(?:\D|$))",
                0.3,
                group=1,
                prefilter=r"\d\.\d{3,}°? ?[NSns]?[,;/ ] ?[+\-]?\d{1,3}\.\d{3}",
            ),
            Pattern(rf"\bgeo:({_LATITUDE},{_LONGITUDE})", 0.9, group=1, prefilter=r"\bgeo:[+\-\d]"),
        ),
        context=phrases(
            """
            lat, latitude, longitude, lon, lng, coordinates, coords, gps, geo, geolocation, location, position, located,
            koordinaten, breitengrad, standort, coordonnées, latitud, coordenadas, ubicación, coordinate, posizione,
            localização, map, maps, pin, house, home, live, lives, living, wohne, wohnt, zuhause, habite, domicile,
            vivo, casa, abito, meet, address, adresse, dirección, indirizzo
            """
        ),
        validator=_on_earth,
        examples=(
            Example("GPS: 52.520008, 13.404954", "52.520008, 13.404954"),
            Example("located at 40.712776,-74.005974.", "40.712776,-74.005974"),
            Example("geo:48.198634,16.371648", "48.198634,16.371648"),
        ),
        counter_examples=("from 1.25 to 3.75", "GPS 99.123456, 13.404954", "an error of 0.12, 0.34"),
    ),
    PatternRecognizer(
        "coordinates.labelled",
        COORDINATES,
        (
            *(Pattern(regex, 0.9, group=value, prefilter=_PAIR_PREFILTER) for regex in _PAIRS for value in (1, 2)),
            Pattern(rf"(?i)\b{_LAT}{_IS}({_FINE_LATITUDE})\b", 0.6, group=1),
            Pattern(rf"(?i)\b{_LON}{_IS}({_FINE_LONGITUDE})\b", 0.6, group=1),
        ),
        examples=(
            Example('{"lat": 52.520008, "lon": 13.404954}', "52.520008", score=0.9),
            Example('{"lat": 52.520008, "lon": 13.404954}', "13.404954", score=0.9),
            Example("?lat=52.52001&lng=13.40495 now", "52.52001", score=0.9),
            Example("we met at lat 52.520008, lon 13.404954", "13.404954", score=0.9),
            Example("latitude: 52.520008", "52.520008"),
        ),
        counter_examples=(
            "lat = compute(), lon = compute()",
            "a latitude of 52 degrees",
            "lat: 0.123456 ms",
            "a long 12.345678",
        ),
    ),
    PatternRecognizer(
        "coordinates.degrees",
        COORDINATES,
        (Pattern(rf"{_DEGREES}[NS],? ?{_DEGREES}[EWO]\b", 0.85, prefilter=r"[°º][^\n]{0,16}[NS],? ?\d"),),
        examples=(Example("at 40°26′46″N 79°58′56″W today", "40°26′46″N 79°58′56″W"),),
        counter_examples=("heated to 40° N", "an angle of 45°30'"),
    ),
)
