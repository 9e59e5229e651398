"""The run of a method: clocks, signals, compiled kernels, and the code that an answer depends on."""
