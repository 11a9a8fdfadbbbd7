"""Keeps private text and keys out of the log of the server that runs the application, uvicorn.

Its lines about requests hold their addresses, and with them private paths and keys in queries. Its other libraries log
whole heads in detail, and tracebacks end with the text of the exception.
"""

import logging

_LOGGERS = ("uvicorn.access", "uvicorn.asgi", "uvicorn.error", "asyncio")
# How lines about requests begin, those about WebSockets included.
_REQUEST = '%s - "'


def keep_private() -> None:
    """Leaves out lines about requests and all below INFO, and the messages and tracebacks of exceptions."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_keeps_private)


def _keeps_private(record: logging.LogRecord) -> bool:
    if record.levelno < logging.INFO or str(record.msg).startswith(_REQUEST):
        return False
    if record.exc_info or record.name == "asyncio":
        kind = f" ({record.exc_info[0].__name__})" if record.exc_info and record.exc_info[0] else ""
        record.msg = f"{record.name} reports a problem at {record.filename}:{record.lineno}{kind}"
        record.args, record.exc_info, record.exc_text = (), None, None
    return True
