"""The phases of divide and conquer: bulk nodes, parts, representatives, conquering and combining (P3)."""
