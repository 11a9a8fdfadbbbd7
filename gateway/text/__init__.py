"""Text without meaning: segmentation, token estimates, dates, and the text fields of a message.

What is private in a text is for `gateway.detection` to say.
"""
