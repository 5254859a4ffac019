"""ATTRIBUTE: every device op and host event to an operation, a category, and the evidence for it."""
