"""P5's soft links: forwarding, link management, moves, and the simulators that route publications."""
