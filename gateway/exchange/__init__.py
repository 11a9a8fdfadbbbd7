"""The path of an exchange: protect, record, forward, guard, restore; and the native operations.

chat            finds the destination of chat requests and serves those that mitmproxy does not forward
pipeline        opens and closes exchanges
answers         guards and restores answers; `streaming` restores those that arrive event by event
state           the state of one request between the two
messages        the calls of the listeners to the gateway
destination     where a call goes, and what of its head may go with it
header_policy   which headers are forwarded
operations      analyze, protect, reconstruct, shard
operator_edits  an operator's edits of protected requests
leak_search     searches for known values in any encoding

Detection, protection, the guard and receipts do the work; HTTP and processes are `gateway.api` and `gateway.server`.
"""
