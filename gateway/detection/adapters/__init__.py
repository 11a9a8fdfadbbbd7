"""Detection engines that an operator can add, one module each.

They fail closed. The built-in model is in `gateway.detection.ner`.
"""
