"""What the strategies of P5 are built from: working maps, forwarding, link management, queues, Δ-moves."""
