"""Kinds of arguments that several commands take."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """A whole number of at least 1.

    Raises:
        ValueError, ArgumentTypeError: it is none; argparse tells the person.
    """
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def seed(text: str) -> int:
    """A whole number that every generator takes.

    Raises:
        ValueError, ArgumentTypeError: it is none; argparse tells the person.
    """
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError("must be from 0 to 4294967295")
    return number
