"""OpenAI's Agents SDK with Responses; it runs the loop of tools."""

import asyncio
import os

from agents import Agent, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI


@function_tool
def save(value: str) -> str:
    """Saves a value."""
    print("TOOL", value)
    return f"saved {value}"


client = AsyncOpenAI(base_url=os.environ["BASE"] + "/v1", api_key=os.environ["KEY"])
agent = Agent(name="A", model=OpenAIResponsesModel(os.environ["MODEL"], client), tools=[save])


async def run() -> str:
    if os.environ["STREAM"] == "1":
        result = Runner.run_streamed(agent, os.environ["PROMPT"])
        async for _ in result.stream_events():
            pass
        return str(result.final_output)
    return str((await Runner.run(agent, os.environ["PROMPT"])).final_output)


print(asyncio.run(run()))
