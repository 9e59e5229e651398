"""The papers' claims as checks, and the search for worst cases."""
