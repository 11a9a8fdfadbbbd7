"""Finds URLs, links and commands in a text, and tells which destinations are trusted.

parser           decides about every placeholder of a text by the destinations that it is in
plain_urls       URLs in running text
markdown_links   inline links, images and reference definitions
html_attributes  attributes that hold an address
rule             which destinations a value may be restored in
trust            which hosts, mailboxes and telephone numbers the request named
commands         commands that send to an untrusted destination
patterns         expressions and word lists in the TOML files of this package and the guard
"""
