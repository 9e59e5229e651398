"""P5's soft links: forwarding, link management, and a fast simulation of queues."""
