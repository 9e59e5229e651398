"""The atlas: every small instance, and the outcome of a claim or a method on all of them."""
