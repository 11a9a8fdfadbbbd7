"""The signals that terminals and supervisors stop the gateway with."""

import signal

STOP_SIGNALS = [signal.SIGINT, signal.SIGTERM]
# A terminal that is closed sends it to all processes. `nohup` ignores it for them; Windows does not have it.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
    STOP_SIGNALS.append(signal.SIGHUP)
