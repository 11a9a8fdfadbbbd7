"""Compares the turns of an agent when its requests go to two gateways by turns: what was repeated has to stay equal."""

import http.client
import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from .upstream import Json, call_of

# The members of a request that providers read, in the order in which they compare it with an earlier one.
_FIELDS = ("tools", "system", "instructions", "systemInstruction", "messages", "input", "contents")
# Claude Code counts its requests in the first part of the system prompt, which is not cached.
_BILLING = '"x-anthropic-billing-header: '
# A client may repeat a call with more or fewer members than it got.
_CALL = ("call_id", "name", "arguments")
_HOP = {"connection", "content-length", "host", "transfer-encoding"}


class Turns:
    """A server that passes each request to the next of some gateways. `bodies` are the requests of the agent."""

    def __init__(self, gateways: Sequence[str]) -> None:
        self.bodies: list[bytes] = []
        targets = itertools.cycle([urlsplit(address).netloc for address in gateways])
        turns = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._forward(b"")

            def do_HEAD(self) -> None:
                self._forward(b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                turns.bodies.append(body)
                self._forward(body)

            def _forward(self, body: bytes) -> None:
                link = http.client.HTTPConnection(next(targets))
                sent = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
                link.request(self.command, self.path, body, sent)
                answer = link.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in _HOP:
                        self.send_header(name, value)
                self.send_header("connection", "close")
                self.end_headers()
                while piece := answer.read1():
                    self.wfile.write(piece)
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def compared(sent: Sequence[bytes], crossed: Sequence[bytes]) -> str:
    """Tells how many turns repeated before the upstream all that the agent repeated, and how large they were."""
    ours, theirs = ([*_turns(bodies)] for bodies in (sent, crossed))
    if len(ours) != len(theirs) or len(ours) < 2:
        return f"no: {len(ours)} turns were sent, {len(theirs)} crossed"
    pairs = zip(itertools.pairwise(ours), itertools.pairwise(theirs), strict=True)
    repeated = [_repeated(*there) >= _repeated(*here) > 0 for here, there in pairs]
    size = f"{len(crossed[0]) // 1000} to {max(map(len, crossed)) // 1000} KB"
    return f"{'yes' if all(repeated) else 'no'}: {sum(repeated)} of {len(repeated)} turns, {size}"


def repeats(crossed: Sequence[bytes]) -> bool:
    """Tells whether every turn begins with all of the turn before."""
    return all(_repeated(*pair) == len(pair[0]) for pair in itertools.pairwise(_turns(crossed)))


def socket_problem(
    connections: Sequence[Sequence[Json]], bodies: Sequence[bytes], *, may_fall_back: bool
) -> str | None:
    """Returns what is wrong with the messages of each connection, of which `bodies` are the whole conversations.

    The first connection breaks. With `may_fall_back`, the client may continue over HTTP.
    """
    used = [messages for messages in connections if messages]
    if any("previous_response_id" not in messages[-1] for messages in used if len(messages) > 1) or not used:
        return "no message continued an answer"
    if sum(map(len, used)) != len(bodies) and not may_fall_back:
        return "a request came over HTTP"
    if len(bodies) == len(used[0]):
        return "it did not ask again"
    return None if repeats(bodies) else "a turn differs from the one before"


def _turns(bodies: Sequence[bytes]) -> Iterator[list[str]]:
    """Yields the parts of each request that offers the tool. Others ask for a title, say."""
    for body in bodies:
        asked = json.loads(body or b"{}")
        if call_of(asked) is not None:
            request = asked.get("request", asked)
            parts = [request[field] for field in _FIELDS if field in request]
            listed = [each for part in parts for each in (part if isinstance(part, list) else [part])]
            yield [text for each in listed if _BILLING not in (text := json.dumps(_unmarked(each)))]


def _unmarked(part: Json) -> Json:
    """Returns a part without the marks of prompt caches, which move from turn to turn."""
    if isinstance(part, dict) and part.get("type") == "function_call":
        return {name: part.get(name) for name in _CALL}
    if isinstance(part, dict):
        return {name: _unmarked(each) for name, each in part.items() if name != "cache_control"}
    return [_unmarked(each) for each in part] if isinstance(part, list) else part


def _repeated(earlier: list[str], later: list[str]) -> int:
    """Returns how many parts at the beginning of a turn are those of the turn before."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(earlier, later, strict=False))
    return sum(1 for _ in same)
