"""Imports onnxruntime with telemetry disabled. Import the library only from here.

Official builds contact a telemetry host, upload events and store a device id in the user's cache folder, unless
`ORT_DISABLE_TELEMETRY` is set before the library is loaded (onnxruntime, docs/Privacy.md). Importing any module of
`gateway` sets the variable; the call below covers builds that ignore it.
"""

import onnxruntime

onnxruntime.disable_telemetry_events()

__all__ = ["onnxruntime"]
