"""Applies a policy to entities: replaces every occurrence of a detected value in a message.

Finding entities is `gateway.detection`; restoring placeholders is `gateway.placeholders`.
"""
