"""The line of the program that has called into this package or into PyTorch."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Optional, Tuple

_PACKAGES = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,)


def caller() -> Tuple[str, int]:
    """Returns file and line of the innermost frame that belongs neither to this package nor to PyTorch; ("", 0) if there is none."""
    frame: Optional[FrameType] = sys._getframe(1)
    torch = sys.modules.get("torch")
    packages = (*_PACKAGES, os.path.dirname(torch.__file__) + os.sep) if torch and torch.__file__ else _PACKAGES
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(packages) and not file.startswith("<"):
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0
