"""The library of instances: their recipes, what is known of each, and scores of methods on them."""
