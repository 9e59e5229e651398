"""The best soft links over a broker tree, proven."""
