"""Files that an option asks for."""

from __future__ import annotations

from pathlib import Path

from rlscope_jax.errors import RlscopeError


def write_file(option: str, path: Path, text: str) -> None:
    """Write a text, and say so.

    Raises:
        RlscopeError: it cannot be written; names the option.
    """
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise RlscopeError(f"{option} {path} cannot be written: {error.strerror or error}.") from error
    size = path.stat().st_size
    print(f"wrote {path} ({size / 1e6:.1f} MB)" + ("; open it in a browser" if option == "--html" else ""))
