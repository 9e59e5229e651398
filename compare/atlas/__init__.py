"""The atlas: every small instance, and what a claim or a method comes to on all of them."""
