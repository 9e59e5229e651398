"""Edges and inequalities of the topic relaxations: candidate edges, topic rows, presolve."""
