"""Pydantic AI with OpenAI's chat completions; it runs the loop of tools."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"])
agent = Agent(OpenAIChatModel(os.environ["MODEL"], provider=provider))


@agent.tool_plain
def save(value: str) -> str:
    """Saves a value."""
    print("TOOL", value)
    return f"saved {value}"


async def streamed() -> str:
    async with agent.run_stream(os.environ["PROMPT"]) as result:
        return await result.get_output()


if os.environ["STREAM"] == "1":
    print(asyncio.run(streamed()))
else:
    print(agent.run_sync(os.environ["PROMPT"]).output)
