"""What an authenticator's codes are made from: the secret of HOTP and TOTP (RFC 4226, RFC 6238) in base32, whole or in
groups of four, and in the address that a QR code holds.
"""

from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._samples import BASE32, sample
from gateway.detection.recognizers._secret_values import is_dummy
from gateway.detection.recognizers.assigned_secret import SECRET

_NAMES = (
    r"(?i:\b(?:2fa|mfa|[th]?otp|two[ \-]factor|authenticator|google auth)[ _\-]?(?:app )?"
    r"(?:secret|seed|(?:set-?up )?key))"
)


def _random(value: str) -> bool | None:
    """No word in capitals: some figure among the letters, or a length that words do not have."""
    return None if not is_dummy(value) and (any(map(str.isdigit, value)) or len(value) >= 24) else False


_secret = sample(32, BASE32)
_grouped = " ".join(_secret[at : at + 4] for at in range(0, 32, 4))

RECOGNIZERS = (
    PatternRecognizer(
        "secret.otp",
        SECRET,
        (
            Pattern(
                r"\botpauth://[^\s\"'<>]+?[?&]secret=([A-Za-z2-7]{16,128})",
                0.95,
                group=1,
                prefilter=r"\botpauth://",
            ),
            Pattern(
                rf"{_NAMES}(?i:[^\S\n]+(?:is|ist|est|es)\b)?[^\w\n]{{1,24}}"
                r"((?:[A-Z2-7]{4}[ \-]){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}|[A-Z2-7]{16,64})\b",
                0.85,
                group=1,
                prefilter=_NAMES,
            ),
        ),
        validator=_random,
        blobs=True,
        examples=(
            Example(f"otpauth://totp/ACME:jane?secret={_secret}&issuer=ACME", _secret),
            Example(f"the 2FA secret is {_grouped}", _grouped),
            Example(f"Authenticator setup key: {_grouped.lower()}", _grouped.lower()),
            Example(f"TOTP_SECRET={_secret}", _secret),
        ),
        counter_examples=(
            "otpauth://totp/LABEL?secret=SECRET",
            "the 2FA secret is kept with care by some team",
            "the MFA key is THIS LONG WORD LIST",
        ),
    ),
)
