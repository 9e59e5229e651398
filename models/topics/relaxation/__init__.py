"""The partition relaxation: edges, inequalities and their separation, presolve, cutting planes, and proven bounds."""
