"""Hierarchical adaptive search, after HARL (arXiv 2211.11172): what `searchers/harl.py` is made of.

Only the paper's abstract was read: the hierarchy is its, the constants and formulas are our choice.
"""
