"""The destination of a call, and the parts of its head that may be sent there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gateway.exchange.host_headers import HostHeaders, required_by
from gateway.http.aws_signing import AwsSigner
from gateway.http.types import Field
from gateway.models import Trust


@dataclass(frozen=True, slots=True)
class Destination:
    """The destination of a call: `url`, or without one a surface of the gateway itself, which gets no headers.

    `model` is the model's name there, `trust` tells whether that is inside the trust boundary. `surface` is the id of
    what answers; it is empty for a host that the client chose. An answer may take `timeout_seconds`.

    `fields` and `query` are the client's; so is `path`, which is empty where the gateway defines it. `credential` is a
    header field that replaces the client's credentials; without it, those named in `credentials` are forwarded.
    `forward` names headers to forward in addition to the harmless ones. A `signer` signs what is sent.
    """

    model: str
    trust: Trust = Trust.EXTERNAL
    url: str = field(default="", repr=False)
    surface: str = ""
    timeout_seconds: float | None = None
    fields: Sequence[Field] = field(default=(), repr=False)
    path: str = field(default="", repr=False)
    query: str = field(default="", repr=False)
    credential: Field | None = field(default=None, repr=False)
    credentials: frozenset[bytes] = frozenset()
    forward: frozenset[bytes] = frozenset()
    signer: AwsSigner | None = field(default=None, repr=False)

    @property
    def upstream(self) -> str:
        """The name of the configured upstream, if it is one."""
        return self.surface if self.url else ""

    @property
    def provider(self) -> str:
        """Identifies who answers: a configured upstream, or the host."""
        return self.upstream or urlsplit(self.url).netloc

    @property
    def required(self) -> HostHeaders:
        """The headers that the host requires of clients that have signed in."""
        return required_by(urlsplit(self.url).hostname or "")

    @property
    def head_size(self) -> int:
        """The length of what is searched of the call's head."""
        return len(self.path) + len(self.query) + sum(len(value) for _, value in self.fields)
