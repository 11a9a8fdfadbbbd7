"""Receipts record what crossed as counts and digests, chained and signed. See docs/receipts.md.

drafts           what a record may contain
records          canonical form, hash, signature
chain            appends records inside the store's transaction
merkle           hashes and proofs of Merkle trees
tree             the tree over the log as it is stored
checkpoint       the signed size and root of the log
checkpoint_file  the checkpoint as remembered outside the database
proofs           proves that a record is in the log, and that the log extends what it was
receipt_proof    verifies one receipt by its place in the tree
consistency      checks that the log extends what is remembered
verify           recomputes records, chain and head
log_walk         reads the whole log in chunks
answer_headers   what a receipt says, in the headers of the answer
client_view      what clients may see of it
receipt_context  names the receipt of a request in later errors
log              the interface of the log: append, read, verify
by_day           exports the log as one file for each day
audit            verifies, proves or exports the log from outside the gateway
offline          verifies proofs with public keys alone
export_walk      verifies an export with public keys alone
pairing          checks that outcomes follow their receipts, in constant memory
history          the signing keys of a log one after the other, and where it starts since it was pruned
rotation         replaces the signing key
pruning          decides which records a pruning deletes
key_loading      loads the signing key; never makes a new one for existing records
open_exchanges   those whose outcome is not written yet
interrupted      closes the exchanges of a gateway that was killed
value_search     finds the receipts of a value by its keyed digest
retry_queue      outcomes that wait for the store to recover

Nothing here sees source text.
"""

from gateway.receipts.answer_headers import answer_headers
from gateway.receipts.client_view import shown_to
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
    "shown_to",
]
