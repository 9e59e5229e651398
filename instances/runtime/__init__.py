"""What runs a method: clocks, signals, compiled kernels, and which code an answer depends on."""
