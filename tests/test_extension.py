"""An extension is one file: a recognizer, a policy, a wire and a surface are added and used together."""

from pathlib import Path
from typing import Any

import pytest

from gateway.auth.quotas import Quotas
from gateway.config.loading import load_settings
from gateway.config.locations import BUILTIN_POLICIES
from gateway.corrections.stored import StoredCorrections
from gateway.detection import Detector
from gateway.errors import NotFound
from gateway.exchange.answer import Answers
from gateway.exchange.attachments import Attachments
from gateway.exchange.batches import Batches
from gateway.exchange.destination import Destination
from gateway.exchange.earlier_answers import EarlierAnswers
from gateway.exchange.protect import Protection
from gateway.exchange.recent_findings import RecentFindings
from gateway.exchange.records import Records
from gateway.exchange.socket_conversations import SocketConversations
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump
from gateway.models import Caller, PrivacyMode, Scope, Trust
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector
from gateway.protection.value_digests import ValueDigests
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.store import open_store
from gateway.surfaces.base import SurfaceRegistry
from gateway.vault import Vault
from gateway.wires.base import Wires
from gateway.workers.thread_pool import Workers

FILES = {
    "recognizers/badge.py": """
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

BADGE = EntityType("BADGE", "custom", "The number on a visitor's badge.")
RECOGNIZERS = (
    PatternRecognizer(
        "badge",
        BADGE,
        (Pattern(r"\\bVISITOR-\\d{4}\\b", 0.9),),
        examples=(Example("badge VISITOR-0042", "VISITOR-0042"),),
        counter_examples=("VISITOR-42",),
    ),
)
""",
    "policies/reception.toml": """
id = "reception"
version = 1
title = "Reception"
extends = "default"

[rules.BADGE]
action = "placeholder"
""",
    "wires/telegram.py": '''
import re

from gateway.text.fields import TextField
from gateway.wires.base import AnswerText, Conversation, Wire


class Telegram(Wire):
    """One text there, one text back."""

    id = "telegram"
    path = re.compile("/telegram")
    method = "telegram"

    def read(self, body, path=""):
        fields = [TextField(body, "text", body["text"])]
        return Conversation(body, body["model"], False, [fields], body["text"], policy_id=body.pop("policy"))

    def answer_texts(self, body):
        return [AnswerText(body, "reply", body["reply"])]

    def annotate(self, body, note):
        body["receipt"] = note["request_id"]

    def refuse_answer(self, body, message):
        body["reply"] = message


WIRE = Telegram()
''',
    "surfaces/parrot.py": """
from gateway.models import Trust
from gateway.surfaces.base import Surface


class Parrot(Surface):
    id = "parrot"
    trust = Trust.LOCAL

    def __init__(self):
        self.heard = []

    def models(self):
        return ("parrot-1",)

    async def complete(self, body):
        self.heard.append(body["text"])
        return {"reply": "You said: " + body["text"]}


def build(settings):
    yield Parrot()
""",
}


@pytest.fixture
def added(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.slow
async def test_all_four_protect_a_request_together(added: Path, data_dir: Path) -> None:
    detector = Detector(folders=[added / "recognizers"])
    policies = PolicyRegistry(BUILTIN_POLICIES, more=[added / "policies"])
    wire = Wires.discover(added / "wires").serving("POST", "/telegram")
    surfaces = SurfaceRegistry.discover(load_settings(None, data_dir=data_dir), added / "surfaces")
    assert wire is not None
    surface, model = surfaces.resolve("parrot-1")
    assert surface.trust is Trust.LOCAL
    store = open_store(data_dir)
    workers = Workers(1, 4, 10)
    protector = Protector(detector, hash_key=b"h" * 32)
    receipts, earlier = ReceiptLog(store, load_signer(data_dir), data_dir), EarlierAnswers()
    sockets, batches = SocketConversations(), Batches(Vault(store), b"k" * 32)
    default = policies.get("default").ref
    records = Records(receipts, ValueDigests(b"k" * 32), lambda: default, engine_version=detector.version)
    protection = Protection(
        protector=protector,
        patterns=protector,
        policies=policies,
        records=records,
        workers=workers,
        quotas=Quotas(store),
        earlier=earlier,
        corrections=StoredCorrections(store, b"k" * 32),
        recent=RecentFindings(),
        sockets=sockets,
        batches=batches,
        attachments=Attachments(),
        installation_key=b"k" * 32,
        default_policy="default",
        local_available=surfaces.local_available,
    )
    body: dict[str, Any] = {
        "model": "parrot-1",
        "policy": "reception",
        "text": "VISITOR-4711 waits; write to anna@acme.test.",
    }
    try:
        anna, destination = Caller("key_anna", Scope.CLIENT), Destination(model, surface.trust)
        request_id = "req_0123456789abcdef0123456789abcdef"
        exchange = Exchange(request_id, wire, anna, destination, body, annotated=True)
        await protection.protect(exchange)
        answer = await surface.complete(body)
        answers = Answers(protector, detector.types, workers, records, earlier, sockets, batches)
        closed = await answers.close(exchange, 200, dump(answer))
    finally:
        workers.close()
        store.close()
    (heard,) = surface.heard  # type: ignore[attr-defined]
    assert heard.startswith("[BADGE_")
    assert "4711" not in heard
    assert "anna" not in heard
    assert exchange.policy.id == "reception"
    assert exchange.protected.counts() == {"BADGE": 1, "EMAIL_ADDRESS": 1}
    assert closed == dump(
        {
            "reply": "You said: VISITOR-4711 waits; write to anna@acme.test.",
            "receipt": "req_0123456789abcdef0123456789abcdef",
        }
    )


@pytest.mark.slow
def test_without_the_files_there_is_none_of_them(data_dir: Path) -> None:
    assert "BADGE" not in Detector().types
    assert Wires.discover().serving("POST", "/telegram") is None
    with pytest.raises(NotFound):
        PolicyRegistry(BUILTIN_POLICIES).get("reception")
    with pytest.raises(NotFound):
        SurfaceRegistry.discover(load_settings(None, data_dir=data_dir)).resolve("parrot-1")


def test_a_rule_of_the_added_policy_knows_the_added_type(added: Path) -> None:
    policy = PolicyRegistry(BUILTIN_POLICIES, more=[added / "policies"]).get("reception")
    assert policy.rule_for("BADGE", "custom", PrivacyMode.STANDARD).action.value == "placeholder"
