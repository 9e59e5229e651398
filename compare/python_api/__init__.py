"""The Python interface: what ``import overlaybench as ob`` does beyond the classes of the layers below."""
