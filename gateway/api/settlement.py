"""The state of settlement by x402, the payment-required protocol: disabled, with what is missing for its release."""

from typing import Any

_MISSING_EVIDENCE = (
    ("no_payment_verification", "Payments are neither verified nor settled by any code in this gateway."),
    ("no_facilitator_agreement", "No facilitator has been chosen, configured or tested."),
    ("no_pricing", "There is no price list, and no meter has been approved to be charged by."),
    ("no_refund_procedure", "What happens to a paid request that fails is not decided."),
    ("no_security_review", "Nobody outside the project has reviewed the handling of payments."),
    ("no_legal_review", "Duties under payment, tax and sanctions law have not been examined."),
    ("no_live_test", "No end-to-end payment has been made, on a test network or a live one."),
)


def settlement_state() -> dict[str, Any]:
    """The body of `GET /v1/payments/x402`. Nothing switches settlement on: there is no code for it."""
    evidence = [{"code": code, "description": description} for code, description in _MISSING_EVIDENCE]
    return {"enabled": False, "status": "disabled", "protocol": "x402", "missing_evidence": evidence}
