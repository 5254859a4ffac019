"""SHOW: one file per way to show a report."""
