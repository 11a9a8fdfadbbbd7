"""Instructions for agents and descriptions of tools, as agents send them: nobody is named, unless somebody is."""

import pytest

from gateway.detection import Detector
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.finder import NameFinder

# Written for this test, in the manner of several agents.
INSTRUCTIONS = """\
You are Claude Code, an agent for the command line that runs on Claude Opus or Haiku. Follow CLAUDE.md, QWEN.md and \
AGENTS.md of the project. Names in this project are snake_case; an edge case is tested first.
- `isolation: "worktree"` gives the agent its own git worktree. A Subtask starts fresh.
- Reasoning efforts are low, medium, high and xhigh. Models: Gemini, Mistral, Cohere, Qwen, Llama, Sonnet.
- End a here-document with EOF. Skip what is not confirmed: `.filter(f => f.verdict?.isReal)`.
- Use Grep, Glob, Edit, Bash and Task. Codex, Copilot and Ollama are other tools.
"""
TOOLS = [
    "Fast mode for Claude Code uses Claude Opus with faster output.",
    "claude: catch-all for any task that does not fit a more specific agent.",
    'Where the job runs: "worktree" or "main".',
    "Stable identifier for mapping answers (snake_case).",
    "The job is gone when Claude exits.",
    "Runs a subagent. Pass `xhigh` for the hardest tasks.",
    "themes, skills, or TUI):",
    'retryStrategy?: import("@quendel/types").RetryStrategy | import("@quendel/types").RetryStrategyV2;',
    "The assistant's ToolCall is done: toolCallDone(toolCall: ToolCall)",
    "rpc SayHello (HelloRequest) returns (HelloReply) {}",
    "npm install -g @quendel/pi-agent",
    '"vars": {\n    "primary": "#00aaff",\n    "secondary": 242',
    '`Session: ${ctx.sessionManager.getSessionFile() ?? "ephemeral"}`',
    '{"session_id": "01a206fe-b54c-7783-8937-dfa59d093a8b", "thread_id": "01a206fe-b54c-7783-8937-dfa59d093a8b"}',
]
NAMED = {
    "You assist Maria Keller of Acme.": "Maria Keller",
    "You are the assistant of Claude Dupont, who works for a bank.": "Claude Dupont",
    "Reviews go to Jonas Weber. Use the worktree of the branch.": "Jonas Weber",
    "Description: asks Priya Raman for approval before a deployment.": "Priya Raman",
    "Ask KHAN before you deploy.": "KHAN",
    "Thanks to MariaKeller of the platform team.": "MariaKeller",
    "Thanks to #Maria for it.": "#Maria",
    "My boss LEE said no.": "LEE",
}


@pytest.fixture(scope="module")
def model(detector: Detector) -> NameFinder:
    return NameFinder(BuiltinModel(detector.types))


@pytest.mark.parametrize("text", [INSTRUCTIONS, *TOOLS])
def test_nobody_is_named(model: NameFinder, detector: Detector, text: str) -> None:
    found = [*model.detect(text), *detector.detect(text)]
    # Programs may be taken for organizations, which may cross.
    assert [text[one.start : one.end] for one in found if one.score >= 0.4 and one.type != "ORGANIZATION"] == []


@pytest.mark.parametrize("text", NAMED)
def test_somebody_is_named(model: NameFinder, text: str) -> None:
    assert NAMED[text] in [text[one.start : one.end] for one in model.detect(text) if one.type == "PERSON"]
