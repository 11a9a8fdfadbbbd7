"""Callers' corrections: values to leave in clear, and values to hide. See docs/corrections.md.

given       the `svc_allow` and `svc_deny` of a request
lists       these and the stored lists, as detection asks them
sealing     the stored form: keyed digests of allowed values, sealed denied values
stored      the lists of keys and of everyone in the store
"""
