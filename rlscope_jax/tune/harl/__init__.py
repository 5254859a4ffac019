"""Hierarchical adaptive search, after HARL (arXiv 2211.11172): the parts that `searchers/harl.py` puts together.

Only the paper's abstract was read: the hierarchy is its, the constants and formulas are our choice.
"""
