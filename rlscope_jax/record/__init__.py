"""RECORD an unmodified program: run it as Python would, and open windows on it from a thread beside it."""
