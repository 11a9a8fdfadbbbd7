"""Processes text without detection: segmentation, token estimates, dates, and the text fields of a message.

`gateway.detection` finds what is private in it.
"""
