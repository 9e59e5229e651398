"""The report of a study: one HTML page with its tables and figures."""
