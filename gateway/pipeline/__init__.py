"""The path of an exchange: protect, record, forward, inspect, restore; and the native operations.

Both listeners and the ASGI application use it; detection, protection and receipts do the work.
"""
