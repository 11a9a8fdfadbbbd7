"""LangChain with its OpenAI package, with a loop of tools."""

import os

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def save(value: str) -> str:
    """Saves a value."""
    print("TOOL", value)
    return f"saved {value}"


chat = ChatOpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"], model=os.environ["MODEL"])
bound = chat.bind_tools([save])
history = [HumanMessage(os.environ["PROMPT"])]
while True:
    if os.environ["STREAM"] == "1":
        answer = None
        for chunk in bound.stream(history):
            answer = chunk if answer is None else answer + chunk
    else:
        answer = bound.invoke(history)
    history.append(answer)
    if not answer.tool_calls:
        break
    history += [ToolMessage(save.invoke(call["args"]), tool_call_id=call["id"]) for call in answer.tool_calls]
print(answer.text if isinstance(answer.text, str) else answer.text())
