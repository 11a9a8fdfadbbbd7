"""Processes text without detection: token estimates, the texts of requests and of answers, what announces a value.

`gateway.detection` finds what is private in it.
"""
