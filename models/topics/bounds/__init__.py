"""Lower bounds on the number of edges, certified in integers."""
