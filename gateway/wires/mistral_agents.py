"""Implements the wire of Mistral's agents (POST …/agents/completions): chat completions that name an agent."""

import re

from gateway.wires.base import Body
from gateway.wires.chat_completions import ChatCompletions


class AgentCompletions(ChatCompletions):
    """The wire. Stateless."""

    id = "mistral-agents"
    streams_by_default = True
    path = re.compile(r"(?:/[\w.-]+)*/agents/completions\Z")
    method = "agents/completions"

    def model(self, body: Body, path: str) -> object:
        """Returns the agent, which keys are permitted and upstreams are found by as by a model."""
        return body.get("agent_id", body.get("model"))

    def set_model(self, body: Body, model: str) -> None:
        body["agent_id" if "agent_id" in body else "model"] = model


WIRE = AgentCompletions()
