"""Numbers of commercial registers, which always follow the register's name."""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

DE_HANDELSREGISTER = EntityType("DE_HANDELSREGISTER", "organization", "A number in the German commercial register.")

RECOGNIZERS = (
    PatternRecognizer(
        "register.german",
        DE_HANDELSREGISTER,
        (Pattern(r"\bHR[AB](?: |-| Nr\.? ?)?\d{1,6}(?: [A-Z]{1,2})?\b", 0.8),),
        examples=(
            Example("Amtsgericht München HRB 12345.", "HRB 12345"),
            Example("HRA12345", "HRA12345"),
            Example("eingetragen unter HRB 113220 B", "HRB 113220 B"),
        ),
        counter_examples=("HR 12345", "HRB 1234567", "the HRB office"),
    ),
)
