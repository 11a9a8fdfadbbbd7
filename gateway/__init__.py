"""The Privacy Gateway: protects private text before it crosses the trust boundary and restores it afterwards.

This package knows nothing of mitmproxy; it is complete and tested without it.
"""

import os

# onnxruntime reads this once, when it is loaded, and reports to its maker without it. Set here, it holds for every
# process and command, and for whatever they start. See gateway/detection/onnx_runtime.py.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.1.0"
