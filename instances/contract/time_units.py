"""Times are whole numbers of microseconds."""

SECOND, MINUTE = 1_000_000, 60_000_000
