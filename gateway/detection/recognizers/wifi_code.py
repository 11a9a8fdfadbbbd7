"""The key in what a QR code for a wireless network says, `WIFI:T:WPA;S:name;P:key;;`, and on a router's label."""

from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from gateway.detection.recognizers.assigned_secret import PASSWORD

_KEY = r"(?i)\b(?:wlan|wi-?fi|netzwerk|network|wpa2?)(?:[ \-]?(?:netzwerk))?[ \-]?(?:schlüssel|key|passwor[dt])"

RECOGNIZERS = (
    PatternRecognizer(
        "secret.wifi_code",
        PASSWORD,
        (
            Pattern(
                r"(?i:\bWIFI:)(?:[^\n]{0,120};)?P:((?:\\.|[^\\;\s]){5,63});",
                0.95,
                group=1,
                prefilter=r"(?i)\bWIFI:[A-Z]:",
            ),
            # The twenty figures on the bottom of a router.
            Pattern(
                rf"{_KEY}[^\n\d]{{0,24}}(\d{{4}}(?: \d{{4}}){{3,4}})(?:[^\d ]|\s|$)",
                0.9,
                group=1,
                prefilter=rf"{_KEY}[^\n\d]*\d",
            ),
        ),
        blobs=True,
        examples=(
            Example("WIFI:T:WPA;S:Home;P:sunny" + "home42;;", "sunny" + "home42"),
            Example("WLAN-Netzwerkschlüssel: 4471 8829" + " 1034 5567 2093", "4471 8829" + " 1034 5567 2093"),
            Example("WIFI:S:Home;T:WPA;P:sunny" + "home42;H:true;;", "sunny" + "home42"),
        ),
        counter_examples=("WIFI:T:nopass;S:Guests;;", "wifi:on"),
    ),
)
