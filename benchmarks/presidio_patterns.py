"""The yardstick: Presidio's recognizers that need no model, timed over texts from standard input.

Runs with the interpreter of an environment that has presidio-analyzer; `benchmarks.detection` starts it. Reads a JSON
object {"texts": {name: text}, "rounds": n} and prints {"version", "sets": {set: {"recognizers": n, "ms": {name: ms}}}}:
the set `enabled` is what a fresh registry loads for English, `all` is every recognizer that comes with the package, and
`engine` is the analyzer as it is called, context words included, with the recognizers of `enabled` and the tokenizer of
an empty spaCy pipeline, the cheapest it can have.
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any


def main() -> None:
    import presidio_analyzer.predefined_recognizers as predefined
    import tldextract
    from presidio_analyzer import PatternRecognizer, RecognizerRegistry

    # It would fetch the list of public suffixes from the network; the package has a copy.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    kinds = (PatternRecognizer, predefined.PhoneRecognizer)
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    every = []
    for kind in (getattr(predefined, name) for name in predefined.__all__):
        if isinstance(kind, type) and issubclass(kind, kinds):
            # Some are bases, which cannot be made without more.
            with contextlib.suppress(TypeError, ValueError):
                every.append(kind())
    sets = {"enabled": [one for one in registry.recognizers if isinstance(one, kinds)], "all": every}
    request = json.load(sys.stdin)
    result = {name: {"recognizers": len(chosen), "ms": _timed(_all(chosen), request)} for name, chosen in sets.items()}
    result["engine"] = {"recognizers": len(sets["enabled"]), "ms": _timed(_engine(sets["enabled"]), request)}
    json.dump({"version": version("presidio-analyzer"), "sets": result}, sys.stdout)


def _all(recognizers: list[Any]) -> Callable[[str], object]:
    return lambda text: [one.analyze(text, one.supported_entities, None) for one in recognizers]


def _engine(recognizers: list[Any]) -> Callable[[str], object]:
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    words = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    words.nlp = {"en": spacy.blank("en")}
    engine = AnalyzerEngine(RecognizerRegistry(recognizers), nlp_engine=words, supported_languages=["en"])
    return lambda text: engine.analyze(text, "en")


def _timed(analyze: Callable[[str], object], request: dict[str, Any]) -> dict[str, float]:
    result = {}
    for name, text in request["texts"].items():
        analyze(text[:1000])
        times = []
        for _ in range(request["rounds"]):
            began = time.thread_time()
            analyze(text)
            times.append((time.thread_time() - began) * 1000)
        result[name] = median(times)
    return result


if __name__ == "__main__":
    main()
