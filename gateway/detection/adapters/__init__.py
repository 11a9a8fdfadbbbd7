"""Detection engines that an operator brings along: one file each.

Both fail closed. The built-in model of names is in `gateway.detection.ner`.
"""
