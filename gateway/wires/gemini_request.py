"""Reads a request of the Gemini wire: the texts of contents, tools and settings.

The API takes every name in camel case and in snake case, and clients mix them. Names are compared in camel case.
Thought signatures cross byte for byte if they look like opaque data.
"""

import re
from collections.abc import Iterator
from typing import Any

from gateway.errors import BadRequest
from gateway.http.strict_json import Json
from gateway.text.fields import (
    MessageField,
    NameField,
    NumberField,
    Place,
    SettingField,
    TextField,
    can_identify,
    placed,
)
from gateway.text.leads import lead
from gateway.wires.base import Body
from gateway.wires.reading import SCHEMA_KEYS, is_number, is_opaque, unknown_keys, value_fields

# Keys of the protocol. Any other key could be private and is searched.
_WORDS = """
model contents content parts role text thought thoughtSignature inlineData fileData mimeType data displayName fileUri
videoMetadata startOffset endOffset fps mediaResolution level numTokens partMetadata functionCall functionResponse
executableCode codeExecutionResult toolCall toolResponse toolType id name args partialArgs willContinue response
scheduling code language outcome output jsonPath stringValue numberValue boolValue nullValue systemInstruction tools
toolConfig generationConfig safetySettings cachedContent labels store serviceTier modelArmorConfig promptTemplateName
responseTemplateName generateContentRequest requests functionDeclarations parameters parametersJsonSchema
responseJsonSchema behavior googleSearch googleSearchRetrieval dynamicRetrievalConfig dynamicThreshold mode
codeExecution urlContext googleMaps enableWidget authConfig enterpriseWebSearch excludeDomains blockingConfidence
timeRangeFilter startTime endTime searchTypes webSearch imageSearch computerUse environment
excludedPredefinedFunctions enablePromptInjectionDetection fileSearch fileSearchStoreNames metadataFilter topK
retrieval disableAttribution externalApi vertexAiSearch vertexRagStore ragResources ragCorpora ragCorpus ragFileIds
ragRetrievalConfig similarityTopK vectorDistanceThreshold storeContext datastore engine dataStoreSpecs maxResults
parallelAiSearch mcpServers streamableHttpTransport functionCallingConfig allowedFunctionNames
streamFunctionCallArguments retrievalConfig latLng latitude longitude languageCode includeServerSideToolInvocations
temperature topP candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty
frequencyPenalty seed responseMimeType responseSchema responseFormat responseModalities thinkingConfig includeThoughts
thinkingBudget thinkingLevel speechConfig voiceConfig prebuiltVoiceConfig voiceName multiSpeakerVoiceConfig
speakerVoiceConfigs speaker replicatedVoiceConfig audioTimestamp routingConfig autoMode manualMode modelName
modelRoutingPreference modelSelectionConfig featureSelectionPreference enableAffectiveDialog
enableEnhancedCivicAnswers imageConfig aspectRatio imageSize personGeneration prominentPeople outputMimeType
outputCompressionQuality imageOutputOptions compressionQuality category threshold method taskType
outputDimensionality embedContentConfig autoTruncate documentOcr audioTrackExtraction propertyOrdering example defs ref
"""
_SNAKE = re.compile(r"(?<=[a-z0-9])([A-Z])")
_CAMEL = re.compile(r"_([a-z])")
_CAMEL_KEYS = SCHEMA_KEYS | frozenset(_WORDS.split())
KEYS = _CAMEL_KEYS | {_SNAKE.sub(r"_\1", word).lower() for word in _CAMEL_KEYS if not word.startswith("$")}
_ROLES = frozenset({"", "user", "model", "function", "tool", "system"})
# Names that the model or the provider must recognize: a placeholder in them has no brackets.
_NAMES = frozenset(
    "name id cachedContent allowedFunctionNames excludedPredefinedFunctions fileSearchStoreNames".split()
)
# Settings that must be numbers.
_NUMBERS = frozenset(
    """
    temperature topP topK candidateCount maxOutputTokens logprobs presencePenalty frequencyPenalty seed thinkingBudget
    outputDimensionality
    """.split()
)
# The words that the API reference allows in a member, as one list: none of them is private.
_ENUMS = frozenset(
    """
    role type category threshold method mode language outcome responseModalities thinkingLevel behavior scheduling
    environment mediaResolution level serviceTier personGeneration prominentPeople taskType toolType format
    modelRoutingPreference featureSelectionPreference aspectRatio imageSize voiceName
    """.split()
)
_ENUM_WORDS = frozenset(
    """
    USER MODEL FUNCTION TOOL SYSTEM
    TYPE_UNSPECIFIED STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL
    FLOAT DOUBLE INT32 INT64 ENUM DATE-TIME DATE TIME DURATION EMAIL URI URL UUID BYTE
    HARM_CATEGORY_UNSPECIFIED HARM_CATEGORY_HARASSMENT HARM_CATEGORY_HATE_SPEECH HARM_CATEGORY_SEXUALLY_EXPLICIT
    HARM_CATEGORY_DANGEROUS_CONTENT HARM_CATEGORY_CIVIC_INTEGRITY HARM_CATEGORY_IMAGE_HATE
    HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT HARM_CATEGORY_IMAGE_HARASSMENT HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT
    HARM_CATEGORY_JAILBREAK HARM_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_ONLY_HIGH
    BLOCK_NONE OFF HARM_BLOCK_METHOD_UNSPECIFIED SEVERITY PROBABILITY
    MODE_UNSPECIFIED AUTO ANY NONE VALIDATED MODE_DYNAMIC
    LANGUAGE_UNSPECIFIED PYTHON OUTCOME_UNSPECIFIED OUTCOME_OK OUTCOME_FAILED OUTCOME_DEADLINE_EXCEEDED
    MODALITY_UNSPECIFIED TEXT IMAGE AUDIO VIDEO
    THINKING_LEVEL_UNSPECIFIED MINIMAL LOW MEDIUM HIGH
    UNSPECIFIED BLOCKING NON_BLOCKING SCHEDULING_UNSPECIFIED SILENT WHEN_IDLE INTERRUPT
    ENVIRONMENT_UNSPECIFIED ENVIRONMENT_BROWSER ENVIRONMENT_MOBILE ENVIRONMENT_DESKTOP
    MEDIA_RESOLUTION_UNSPECIFIED MEDIA_RESOLUTION_LOW MEDIA_RESOLUTION_MEDIUM MEDIA_RESOLUTION_HIGH
    MEDIA_RESOLUTION_ULTRA_HIGH FLEX STANDARD PRIORITY
    ALLOW_ALL ALLOW_ADULT ALLOW_NONE DONT_ALLOW
    TASK_TYPE_UNSPECIFIED RETRIEVAL_QUERY RETRIEVAL_DOCUMENT SEMANTIC_SIMILARITY CLASSIFICATION CLUSTERING
    QUESTION_ANSWERING FACT_VERIFICATION CODE_RETRIEVAL_QUERY
    UNKNOWN BALANCED PRIORITIZE_QUALITY PRIORITIZE_COST
    1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9 512 1K 2K 4K
    ZEPHYR PUCK CHARON KORE FENRIR LEDA ORUS AOEDE CALLIRRHOE AUTONOE ENCELADUS IAPETUS UMBRIEL ALGIEBA DESPINA ERINOME
    ALGENIB RASALGETHI LAOMEDEIA ACHERNAR ALNILAM SCHEDAR GACRUX PULCHERRIMA ACHIRD ZUBENELGENUBI VINDEMIATRIX
    SADACHBIA SADALTAGER SULAFAT
    """.split()
)
# Members of a part that are its content. A part with none of them is of an unknown kind.
_TEXT_CONTENT = frozenset("text functionCall functionResponse executableCode codeExecutionResult".split())
_TOOL_CONTENT = frozenset({"toolCall", "toolResponse"})
_FILE_CONTENT = frozenset({"inlineData", "fileData"})
_CALLS = frozenset({"functionCall", "functionResponse"}) | _TOOL_CONTENT
_RESULTS = frozenset({"functionResponse", "toolResponse", "codeExecutionResult"})
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}\Z")


def camel(name: str) -> str:
    """Returns a name of the protocol in camel case."""
    return _CAMEL.sub(lambda letter: letter[1].upper(), name)


def named_requests(body: Body) -> Iterator[Body]:
    """Yields the objects of a body that can name the model."""
    yield body
    for name, value in body.items():
        if camel(name) in {"generateContentRequest", "requests"}:
            listed = value if isinstance(value, list) else [value]
            yield from (each for each in listed if isinstance(each, dict))


def items(value: Any, where: str) -> list[Any]:
    """Returns the items of a list. As in the API, a single object stands for a list of one. Raises BadRequest."""
    if isinstance(value, dict):
        return [value]
    if value is not None and not isinstance(value, list):
        raise BadRequest(f"`{where}` must be a list.", param=where)
    return value or []


def check_role(content: Any, where: str) -> str:
    """Returns the role of a content, by default `user`. Raises BadRequest."""
    if not isinstance(content, dict):
        raise BadRequest(f"`{where}` must be an object.", param=where)
    role = content.get("role") or ""
    if not isinstance(role, str) or role not in _ROLES:
        raise BadRequest(f"`{where}.role` must be `user` or `model`.", param=f"{where}.role")
    return role or "user"


def plain_text(content: Body) -> str:
    """Returns the text of a content."""
    parts = content.get("parts")
    given = [parts] if isinstance(parts, dict) else parts if isinstance(parts, list) else []
    return "\n".join(part["text"] for part in given if isinstance(part, dict) and isinstance(part.get("text"), str))


class RequestReader:
    """Yields the fields of one request. `attachments` fills up meanwhile."""

    def __init__(self) -> None:
        self.attachments = set[str]()
        # Whether the content that is being read is an answer of the model.
        self._is_models = False

    def content(self, container: Any, key: Any, where: str) -> Iterator[MessageField]:
        """Yields the fields of a content: a string, or an object with parts. Raises BadRequest."""
        content = container[key]
        self._is_models = isinstance(content, dict) and content.get("role") == "model"
        if not isinstance(content, dict):
            yield from self.fields(container, key, content)
            return
        for name, value in content.items():
            if name == "parts" and value is not None and not isinstance(value, str):
                goes_on = False
                for position, part in enumerate(items(value, f"{where}.parts")):
                    is_text = isinstance(part, dict) and "text" in part
                    for field in self._part(value, position, part):
                        if goes_on and is_text and isinstance(field, TextField) and field.key == "text":
                            field.goes_on = True
                        yield field
                    goes_on = is_text
            else:
                yield from self.fields(content, name, value)
        yield from unknown_keys(content, KEYS)

    def _part(self, parts: Any, position: int, part: Any) -> Iterator[MessageField]:
        if not isinstance(part, dict):
            self.attachments.add("unknown")
            yield from self.fields(parts, position, part)
            return
        kinds = {camel(name) for name in part}
        self.attachments |= kinds & _FILE_CONTENT
        if kinds and kinds.isdisjoint(_TEXT_CONTENT | _TOOL_CONTENT | _FILE_CONTENT | {"thoughtSignature"}):
            self.attachments.add("unknown")
        yield from self.members(part)

    def fields(self, container: Any, key: Any, value: Json, under: str = "") -> Iterator[MessageField]:
        """Yields the fields under `container[key]`: strings, numbers and unknown keys.

        `under` is the nearest key: that of the list which has the value, for one.
        """
        is_named = isinstance(key, str)
        under = key if is_named else under
        label = "" if under in KEYS else under
        if isinstance(value, str):
            yield from self._string(container, key, value, camel(under), lead(label))
        elif isinstance(value, dict):
            yield from self.members(value, under=under)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.fields(value, index, item, under)
        elif is_number(value) and can_identify(repr(value), is_named=is_named and label != ""):
            is_setting = is_named and camel(under) in _NUMBERS
            yield SettingField(container, key, value) if is_setting else NumberField(container, key, value, lead(label))

    def _string(self, container: Any, key: Any, value: str, name: str, label: str) -> Iterator[MessageField]:
        if not value or (name in _ENUMS and value.upper() in _ENUM_WORDS):
            return
        if name == "thoughtSignature" and self._is_models and is_opaque(value):
            return
        if name == "data" and _BASE64.match(value):
            # A file, or what is no text to the model either.
            self.attachments.add("inlineData")
            return
        yield NameField(container, key, value) if name in _NAMES else TextField(container, key, value, label)

    def members(self, value: Body, besides: frozenset[str] = frozenset(), *, under: str = "") -> Iterator[MessageField]:
        """Yields the fields of the members of an object, except those named in `besides`, and its unknown keys.

        `under` is the key of the object.
        """
        for name, inner in value.items():
            if camel(name) not in besides:
                yield from self.member(value, name, inner)
        yield from unknown_keys(value, KEYS, under=under)

    def member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        """Yields the fields of a member of an object."""
        fields = self._member_fields(container, name, value)
        return placed(Place.TOOL_RESULT, fields) if camel(name) in _RESULTS else fields

    def _member_fields(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        known = camel(name)
        if known in _CALLS and isinstance(value, dict):
            yield from self._call(value)
        elif known in {"labels", "partMetadata"}:
            yield from value_fields(container, name, value)
        else:
            yield from self.fields(container, name, value)

    def _call(self, call: Body) -> Iterator[MessageField]:
        """Yields the fields of a call or its result, in whose values every key is the caller's."""
        for name, value in call.items():
            if name in {"args", "response"}:
                yield from value_fields(call, name, value, documents=name == "response")
            elif name == "parts" and isinstance(value, list):
                for position, part in enumerate(value):
                    yield from self._part(value, position, part)
            else:
                yield from self.fields(call, name, value)
        yield from unknown_keys(call, KEYS)
