"""Coordinates of places on Earth (ISO 6709, RFC 5870): exact enough, they are somebody's address."""

import re

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.tokens import phrases

COORDINATES = EntityType("COORDINATES", "address", "A place on Earth by latitude and longitude.")

_LATITUDE = r"[+\-]?(?:[1-8]?\d|90)\.\d{3,}"
_LONGITUDE = r"[+\-]?(?:1[0-7]\d|180|[1-9]?\d)\.\d{3,}"
_DEGREES = r"\d{1,3}[°º] ?(?:\d{1,2}(?:\.\d+)?['′] ?(?:\d{1,2}(?:\.\d+)?(?:\"|''|″) ?)?)?"
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")


def _on_earth(value: str) -> bool | None:
    """Within 90 and 180 degrees, with decimals that tell a street from a city."""
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
                gate=r"\d\.\d{3,}°? ?[NSns]?[,;/ ] ?[+\-]?\d{1,3}\.\d{3}",
            ),
            Pattern(rf"\bgeo:({_LATITUDE},{_LONGITUDE})", 0.9, group=1, gate=r"\bgeo:[+\-\d]"),
        ),
        context=phrases(
            """
            lat, latitude, longitude, lon, lng, coordinates, coords, gps, geo, geolocation, location, position, located,
            koordinaten, breitengrad, standort, coordonnées, latitud, coordenadas, ubicación, coordinate, posizione,
            localização, map, maps, pin
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
            Pattern(
                rf"(?i)\blat(?:itude)?[\"']?\s{{0,2}}[:=]\s{{0,2}}[\"']?{_LATITUDE}[\"']?[,;&\s]{{1,4}}"
                rf"[\"']?(?:lon|lng|long)(?:gitude)?[\"']?\s{{0,2}}[:=]\s{{0,2}}[\"']?{_LONGITUDE}",
                0.9,
                gate=r"(?i)\blat(?:itude)?[\"']?\s{0,2}[:=]",
            ),
        ),
        examples=(
            Example('{"lat": 52.520008, "lon": 13.404954}', 'lat": 52.520008, "lon": 13.404954'),
            Example("?lat=52.52001&lng=13.40495 now", "lat=52.52001&lng=13.40495"),
        ),
        counter_examples=("lat = compute(), lon = compute()", "a latitude of 52 degrees"),
    ),
    PatternRecognizer(
        "coordinates.degrees",
        COORDINATES,
        (Pattern(rf"{_DEGREES}[NS],? ?{_DEGREES}[EWO]\b", 0.85, gate=r"[°º][^\n]{0,16}[NS],? ?\d"),),
        examples=(Example("at 40°26′46″N 79°58′56″W today", "40°26′46″N 79°58′56″W"),),
        counter_examples=("heated to 40° N", "an angle of 45°30'"),
    ),
)
