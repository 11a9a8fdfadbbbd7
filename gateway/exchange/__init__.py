"""The path of an exchange: admit, protect, record, forward, guard, restore; and the native operations.

messages        the calls of the listeners to the gateway
admit           who calls, on which wire, and where the call goes: decided once
state           the state of one request, from its admission to its outcome
protect         hides what is private and writes the receipt
answer          guards and restores the answer and records the outcome; `streaming` restores those that arrive by events
answer_guard    the guard that both use
batches         calls on batches, and their values until the results are fetched
batch_access    the facts about such a call
batch_lines     protects the requests of a batch one after the other
chat            serves the chat requests that mitmproxy does not forward
records         receipts and outcomes
destination     where a call goes, and what of its head may go with it
permissions     what a key and a route permit
header_policy   which headers are forwarded
earlier_answers values of answers that a later request may continue
recent_findings where something was hidden in recent requests, for the keys that sent them
operations      analyze, explain, protect, reconstruct, shard
socket_conversations  the same values, for the answers of a WebSocket, as long as it is open
operator_edits  an operator's edits of protected requests
edit_findings   where an edit holds private text
leak_search     searches for known values in any encoding

Detection, protection, the guard and receipts do the work; HTTP and processes are `gateway.api` and `gateway.server`.
"""
