"""What mitmproxy sees of the gateway. Only this folder and `run_proxy.py` import mitmproxy."""
