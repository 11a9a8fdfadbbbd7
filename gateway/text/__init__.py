"""Processes text without detection: segmentation, token estimates, dates, the texts of requests and of answers.

`gateway.detection` finds what is private in it.
"""
