"""One version of the program, of this package, and of the package in all ranks: messages and memory are those of a version."""

from __future__ import annotations

from typing import Optional

from .. import __version__
from .errors import Unavailable


def check(who: str, version: Optional[str]) -> None:
    """Compares the version that a program or a rank names with that of this package. Errors: Unavailable with both."""
    if version != __version__:
        theirs = f"has version {version}" if version else "names no version"
        raise Unavailable(f"{who} {theirs}, and this package symmrepl has {__version__}: install one version of both, pip install symmrepl=={__version__}")
