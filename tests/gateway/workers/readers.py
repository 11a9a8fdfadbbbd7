"""Readers that do what a text says, for processes that search: this module imports little."""

import os
import time
from collections.abc import Mapping, Sequence

from gateway.detection.ner.finder import Reader
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity

PRIVATE = "private text"


class Panic(BaseException):
    """As libraries in Rust raise it."""


class Obedient(Reader):
    """Finds in each text one entity, whose type names the process."""

    version = "1"
    hash = "abc"
    types: Mapping[str, EntityType] = {}
    rests = 0

    def read(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        for text in texts:
            match text.rstrip():
                case "hang":
                    time.sleep(600)
                case "wait":
                    time.sleep(0.2)
                case "long":
                    time.sleep(0.4)
                case "unavailable":
                    raise Unavailable("Not now.", code="detection_failed")
                case "broken":
                    raise ValueError(PRIVATE)
                case "panic":
                    raise Panic(PRIVATE)
                case "die":
                    os._exit(1)
        return [(Entity(f"PROCESS_{os.getpid()}", 0, len(text), 0.5, f"{text[:8]} {self.rests}"),) for text in texts]

    def rest(self) -> None:
        self.rests += 1
        raise MemoryError


class Updated(Obedient):
    version = "2"


def load(_: Mapping[str, EntityType]) -> Sequence[Reader]:
    return [Obedient()]


def load_updated(_: Mapping[str, EntityType]) -> Sequence[Reader]:
    return [Updated()]


def load_nothing(_: Mapping[str, EntityType]) -> Sequence[Reader]:
    from gateway.config.settings import SettingsError  # slow to import

    raise SettingsError("no such model")


def load_broken(_: Mapping[str, EntityType]) -> Sequence[Reader]:
    raise ValueError(PRIVATE)


def load_and_die(_: Mapping[str, EntityType]) -> Sequence[Reader]:
    os._exit(3)
