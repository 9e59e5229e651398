"""The first layer: what is given, what is asked, and what counts as an answer."""
