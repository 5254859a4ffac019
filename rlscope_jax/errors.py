"""Errors a person can act on: what was wrong, where, and what to do next."""

from __future__ import annotations


class RlscopeError(Exception):
    """Base of every error this package raises on purpose.

    The command line prints it as one line and leaves with `exit_code`; it never shows a traceback.
    """

    exit_code = 2


class NoProfileError(RlscopeError):
    """A directory holds no profile, or not the one that was asked for."""


class UnreadableProfileError(RlscopeError):
    """A profile file is empty, damaged, or no XLA profile at all."""
