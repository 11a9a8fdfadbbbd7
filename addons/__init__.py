"""The gateway's addons for mitmproxy. Only this folder and `run_proxy.py` import mitmproxy."""
