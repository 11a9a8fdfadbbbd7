"""Receipts record what crossed as counts and digests, chained and signed. See docs/receipts.md.

drafts           what a record may contain
records          canonical form, hash, signature
chain            appends records inside the store's transaction
checkpoint       the signed head of the log
checkpoint_file  the head as remembered outside the database
consistency      checks that the log extends what is remembered
verify           recomputes records, chain and head
log_walk         reads the whole log in chunks
answer_headers   what a receipt says, in the headers of the answer
receipt_context  names the receipt of a request in later errors
log              the interface of the log: append, read, verify
audit            verifies or exports the log from outside the gateway
key_loading      loads the signing key; never makes a new one for existing records
retry_queue      outcomes that wait for the store to recover

Nothing here sees source text.
"""

from gateway.receipts.answer_headers import answer_headers
from gateway.receipts.drafts import OPERATIONS, OUTCOMES, OutcomeDraft, ReceiptDraft
from gateway.receipts.log import ReceiptLog
from gateway.receipts.receipt_context import attach_to_errors
from gateway.receipts.records import Receipt
from gateway.receipts.signing import Signer
from gateway.receipts.verify import Check, Verification

__all__ = [
    "OPERATIONS",
    "OUTCOMES",
    "Check",
    "OutcomeDraft",
    "Receipt",
    "ReceiptDraft",
    "ReceiptLog",
    "Signer",
    "Verification",
    "answer_headers",
    "attach_to_errors",
]
