"""Mistral's SDK: a conversation, which the provider keeps. The second turn sends nothing of the first."""

import os

from mistralai.client import Mistral

BASE = os.environ["BASE"]
client = Mistral(api_key=os.environ["KEY"], server_url=BASE if BASE.startswith("http://") else None)
conversations = client.beta.conversations


def said(asked, streamed, **members):
    """Returns the conversation and the text of an answer."""
    if os.environ["STREAM"] != "1":
        answer = asked(**members)
        return answer.conversation_id, answer.outputs[0].content
    name, text = None, ""
    for event in streamed(**members):
        name = getattr(event.data, "conversation_id", name)
        text += getattr(event.data, "content", "")
    return name, text


name, first = said(
    conversations.start, conversations.start_stream, model=os.environ["MODEL"], inputs=os.environ["PROMPT"]
)
_, again = said(conversations.append, conversations.append_stream, conversation_id=name, inputs="Say it again.")
print(first if first == again else f"It said {first!r}, then {again!r}")
