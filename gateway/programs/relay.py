"""Passes the connections of a contained program on to the gateway. It runs outside, where the network is."""

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import suppress

from gateway.config.contained_programs import CONTAINED_ADDRESS

type Address = tuple[str, int]

_CHUNK = 64 * 1024


async def relay(listeners: Mapping[Address, socket.socket], until: int) -> None:
    """Accepts at the listeners, which are in another network, for the addresses here, until a process has ended.

    `until` is the descriptor of that process. The gateway knows the connections by the address that they come from.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(until, ended.set)
    servers = [
        await asyncio.start_server(_Relay(address), sock=listener, limit=_CHUNK)
        for address, listener in listeners.items()
    ]
    await ended.wait()
    loop.remove_reader(until)
    for server in servers:
        server.close()


class _Relay:
    """Joins each connection to one that it makes to `address`."""

    def __init__(self, address: Address) -> None:
        self._address = address

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            host, port = self._address
            theirs = await asyncio.open_connection(host, port, local_addr=(CONTAINED_ADDRESS, 0), limit=_CHUNK)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass(reader, theirs[1]), _pass(theirs[0], writer))
        for each in (writer, theirs[1]):
            each.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes on what is read, and then its end."""
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
        return
    writer.close()


def run_relay(listeners: Mapping[Address, socket.socket], process: int) -> None:
    """Relays until a process has ended."""
    until = os.pidfd_open(process)
    try:
        asyncio.run(relay(listeners, until))
    finally:
        os.close(until)
