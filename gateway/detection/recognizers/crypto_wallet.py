"""Addresses of cryptocurrency wallets.

Verifies checksums: Base58Check (Bitcoin, Litecoin, Dogecoin, Dash, Tron) and Bech32 (BIP 173, 350: Bitcoin, Litecoin,
Cardano, Cosmos). Relies on form and context words for Ethereum.
"""

from hashlib import sha256

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._samples import HEX, sample

CRYPTO = EntityType("CRYPTO", "financial", "The address of a cryptocurrency wallet.")

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_CHECK, _BECH32M_CHECK = 1, 0x2BC830A3


def _base58(value: str) -> int:
    number = 0
    for char in value:
        number = number * 58 + _BASE58.index(char)
    return number


def _base58check(value: str) -> bool:
    number = _base58(value)
    if number >> 200:
        return False
    raw = number.to_bytes(25)
    return sha256(sha256(raw[:21]).digest()).digest()[:4] == raw[21:]


def _varied(value: str) -> bool | None:
    return None if len(set(value.lower())) > 6 else False


def _bech32(value: str) -> bool:
    if value not in {value.lower(), value.upper()}:
        return False
    human, _, data = value.lower().rpartition("1")
    values = [ord(char) >> 5 for char in human] + [0] + [ord(char) & 31 for char in human]
    values += [_BECH32.index(char) for char in data]
    check = 1
    for item in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ item
        for bit, generator in enumerate(_GENERATOR):
            if top >> bit & 1:
                check ^= generator
    return check in {_BECH32_CHECK, _BECH32M_CHECK}


_wallet = "0x" + sample(40, HEX)

RECOGNIZERS = (
    PatternRecognizer(
        "crypto.base58",
        CRYPTO,
        (Pattern(r"\b[13LMDXT][1-9A-HJ-NP-Za-km-z]{25,33}\b", 0.1),),
        validator=_base58check,
        examples=(
            Example("to 16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ now", "16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ", score=1.0),
            Example("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", score=1.0),
        ),
        counter_examples=("16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyY", "16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ2"),
    ),
    PatternRecognizer(
        "crypto.bech32",
        CRYPTO,
        (
            Pattern(r"\b(?i:bc|tb|ltc)1(?i:[02-9ac-hj-np-z]{38,71})\b", 0.1),
            Pattern(r"\b(?:addr|stake|cosmos|osmo|celestia|terra|inj)1[02-9ac-hj-np-z]{38,100}\b", 0.1),
        ),
        validator=_bech32,
        examples=(
            Example(
                "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
                score=1.0,
            ),
        ),
        counter_examples=("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx",),
    ),
    PatternRecognizer(
        "crypto.ethereum",
        CRYPTO,
        (Pattern(r"\b0x[0-9A-Fa-f]{40}\b", 0.6),),
        context=("wallet", "ethereum", "eth", "erc20", "address", "contract"),
        validator=_varied,
        examples=(Example(f"my wallet {_wallet}", _wallet, score=0.7),),
        counter_examples=("0xdeadbeef", "0x" + sample(64, HEX), sample(40, HEX), "0x" + "0" * 40),
    ),
)
