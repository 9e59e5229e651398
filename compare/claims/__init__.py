"""The papers' claims as checks, and the hunt for worst cases."""
