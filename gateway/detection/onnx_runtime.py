"""Loads onnxruntime with its telemetry switched off. Import the library from here and nowhere else.

Its official builds look up a telemetry host, upload events and keep a device id in the user's cache folder, unless
`ORT_DISABLE_TELEMETRY` is set before the library is loaded (onnxruntime, docs/Privacy.md). Importing any module of
`gateway` sets it; the call below also covers builds that do not read the variable.
"""

import onnxruntime

onnxruntime.disable_telemetry_events()

__all__ = ["onnxruntime"]
