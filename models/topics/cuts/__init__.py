"""The partition relaxation, solved by cutting planes and column generation."""
