"""An `@` of programs is no mention, whoever found it; an account that is mentioned is one beside code as well."""

import pytest

from gateway.detection import Detector
from gateway.detection.mentions import is_mention
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.finder import NameFinder

PROGRAMS = [
    "npm install @anthropic-ai/sdk",
    "npm i -D @types/node @vitejs/plugin",
    "yarn add @stablelib/wipe",
    "It is in @stablelib/base64 since 2020.",
    "we use @ai-sdk/openai for this",
    "import { Button } from '@acme/ui'",
    "DECLARE @StartDate DATE = NULL, @end DATE",
    "SELECT @rownum := 1",
    "SET @rownum = @rownum + 1",
    "select t.*, (@rownum := @rownum + 1) from t",
    "WHERE day >= @StartDate AND day < @EndDate",
    "EXEC dbo.add_user @UserId = 5",
    "my (@defines, @incpaths)",
    "our @ISA = qw(Exporter);",
    "push @defines, $one;",
    "foreach my $one (@incpaths) {",
    "return sort @names;",
    "/**\n * @nset: the set",
    "/**\n * free_all:\n   @list: what to free\n",
    "@Composable fun Greeting(name: String) {",
    "@MyAnnotation class",
    "@Serializable\ndata class Order(",
    "    @Inject lateinit var store: Store",
    "@Id private Long id;",
    "@Autowired @Lazy private Store store;",
    "@media (width > 3px) {",
    "@param name whose it is",
]
MENTIONS = [
    "thanks @anna_k!",
    "cc @jdoe",
    "@maria.lopez wrote",
    "@jdoe: can you look?",
    "* @jdoe: the tests",
    "    * @jdoe: the tests",
    "  - @anna_k: the review",
    "ask @jdoe/@anna_k",
    "as @octo-jane said",
    "for the review (@jdoe, @anna_k)",
    "push @jdoe, please",
    "my friend @jdoe",
    "our team (@jdoe)",
    "@jdoe class starts at nine",
    "@JohnSmith class of 2020",
    "@JohnSmith open the door",
    "@JohnSmith\nprivate: call me",
    "> @jdoe said so",
    "owner = @jdoe",
    "set it for @jdoe",
    "INSERT INTO users VALUES ('@jdoe')",
    "/* see below */ @jdoe: done",
    "thanks @page-turner, @test.anna and @service_jane",
    " * @jdoe: please fix the login",
    "WHERE is the doc, @jdoe?",
    "HAVING fun, @jdoe",
    "VALUES matter - @jdoe",
    "SELECT committee: chair (@jdoe), vice (@asmith)",
    "EXEC sponsor @jdoe",
    "Thanks to our @jdoe; he did it",
    "Follow my @jdoe; thanks",
    "please set @jdoe = owner",
    "for review (@jdoe) {",
    "ask npm guru @jdoe/website",
]


def signs(text: str) -> list[bool]:
    return [is_mention(text[:at], text[at:]) for at, char in enumerate(text) if char == "@"]


@pytest.mark.parametrize("text", PROGRAMS)
def test_words_of_programs(text: str) -> None:
    assert not any(signs(text))


@pytest.mark.parametrize("text", MENTIONS)
def test_mentions(text: str) -> None:
    assert all(signs(text))


@pytest.fixture(scope="module")
def names(detector: Detector) -> NameFinder:
    return NameFinder(BuiltinModel(detector.types))


@pytest.mark.parametrize("text", PROGRAMS)
def test_neither_the_model_nor_a_recognizer_finds_them(names: NameFinder, detector: Detector, text: str) -> None:
    found = [*names.detect(text), *detector.detect(text)]
    assert [text[one.start : one.end] for one in found if one.type in {"USERNAME", "PERSON"}] == []


@pytest.mark.parametrize("text", ["thanks @anna_k!", "cc @jdoe", "@maria.lopez wrote", "* @jdoe: the tests"])
def test_the_model_finds_mentions(names: NameFinder, text: str) -> None:
    assert [one.type for one in names.detect(text)] == ["USERNAME"]
