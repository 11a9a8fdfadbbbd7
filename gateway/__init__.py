"""Privacy Gateway: protects private text before it leaves the trust boundary and restores it afterwards.

Usable and tested without mitmproxy, which only `addons/` and `run_proxy.py` import.
"""

import os

# onnxruntime reads this once, when it is loaded, and reports to its maker without it. Set here, it holds for every
# process and command, and for whatever they start. See gateway/detection/onnx_runtime.py.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.1.0"
