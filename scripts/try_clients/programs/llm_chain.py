"""llm as a library; it runs the loop of tools."""

import os

from llm.default_plugins.openai_models import Chat


def save(value: str) -> str:
    """Saves a value."""
    print("TOOL", value)
    return f"saved {value}"


model = Chat("tried", model_name=os.environ["MODEL"], api_base=os.environ["BASE"] + "/v1", supports_tools=True)
asked = model.chain(os.environ["PROMPT"], tools=[save], stream=os.environ["STREAM"] == "1", key=os.environ["KEY"])
print(asked.text())
