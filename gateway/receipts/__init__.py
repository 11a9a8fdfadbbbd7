"""Receipts: what crossed, in numbers and digests, chained and signed. See docs/receipts.md.

drafts      what may go into a record
records     canonical form, hash, signature
chain       how the log grows, inside the store's transaction
checkpoint  the signed head, without which a cut log would look whole
checkpoint_file  the head as it is remembered outside the database
consistency whether the log extends what is remembered
verify      everything recomputed
following   the receipt a request left, for whoever serves it
log         the face: append, read, verify
opening     the key a store is opened with, never a new one beside records
owed        outcomes that wait for the store to be well
"""

from gateway.receipts.drafts import OPERATIONS, OUTCOMES, OutcomeDraft, ReceiptDraft
from gateway.receipts.log import ReceiptLog
from gateway.receipts.receipt_context import Followed, following
from gateway.receipts.records import Receipt
from gateway.receipts.signing import Signer
from gateway.receipts.verify import Check, Verification

__all__ = [
    "OPERATIONS",
    "OUTCOMES",
    "Check",
    "Followed",
    "OutcomeDraft",
    "Receipt",
    "ReceiptDraft",
    "ReceiptLog",
    "Signer",
    "Verification",
    "following",
]
