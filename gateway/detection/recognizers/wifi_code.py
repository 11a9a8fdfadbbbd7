"""The key in what a QR code for a wireless network says: `WIFI:T:WPA;S:name;P:key;;`."""

from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from gateway.detection.recognizers.assigned_secret import PASSWORD

RECOGNIZERS = (
    PatternRecognizer(
        "secret.wifi_code",
        PASSWORD,
        (
            Pattern(
                r"(?i:\bWIFI:)(?:[^\n]{0,120};)?P:((?:\\.|[^\\;\s]){5,63});", 0.95, group=1, gate=r"(?i)\bWIFI:[A-Z]:"
            ),
        ),
        blobs=True,
        examples=(
            Example("WIFI:T:WPA;S:Home;P:sunny" + "home42;;", "sunny" + "home42"),
            Example("WIFI:S:Home;T:WPA;P:sunny" + "home42;H:true;;", "sunny" + "home42"),
        ),
        counter_examples=("WIFI:T:nopass;S:Guests;;", "wifi:on"),
    ),
)
