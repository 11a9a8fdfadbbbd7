"""Receipts record what is sent as counts and digests, chained and signed. See docs/receipts.md.

drafts           what a record may contain
records          canonical form, hash, signature
merkle           hashes and proofs of Merkle trees
checkpoint       the signed size and root of the log
signing          the keys that sign and verify
history          the signing keys of a log one after the other, and where it starts since it was pruned
verify           recomputes records, chain and head
offline          verifies proofs with public keys alone
client_view      what clients may see, in answers and their headers

Nothing here sees source text, a store or a clock but for `created_at`. `gateway.receipt_log` keeps the records.
"""
