"""The playground: a static site on which the gateway's own Python protects a text in the browser.

It sends nothing and keeps nothing; `/v1/playground/run`, which operators call, is part of `gateway/exchange/`.
"""
