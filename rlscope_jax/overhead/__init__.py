"""CORRECT: what profiling itself cost, measured on this machine or against unprofiled steps, and removed."""
