"""The receipt log: durable in the store before a request is sent, read and verified afterwards. See docs/receipts.md.

log              appends, reads and verifies, for the gateway
chain            appends records inside the store's transaction
tree             the Merkle tree over the log as it is stored
proofs           proves that a record is in the log and that the log extends what it was; verifies one receipt so
log_walk         reads the whole log in chunks
consistency      checks that the log extends what is remembered
checkpoint_file  the checkpoint as remembered outside the database
interrupted      closes the exchanges of a gateway that was killed
value_search     finds the receipts of a value by its keyed digest
audit            verifies the log and proves what is in it, from outside the gateway
export           exports the log as one file, or as one file for each day
export_walk      verifies an export with public keys alone
record_checks    checks the records of a log or an export one after the other
pruning          decides which records a pruning deletes
signing_key      the file of the signing key: loaded, never made anew beside records, and replaced

`gateway.receipts` has the records, proofs and verification, which need no store.
"""
