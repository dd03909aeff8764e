"""Finds and starts the program of this package, bin/symmrepl beside this file.

``find()`` returns the path of the program, or None if the package was installed without it. ``environment()``
returns the environment in which to start the program. It names this Python, with which the program runs programs of
Python, and the folder of the package ziglang, whose compiler the program uses if it finds no other compiler.
"""

import importlib.util
import os
import sys
from typing import Dict, List, Mapping, NoReturn, Optional

_ZIGLANG, _PYTHON = "SYMMREPL_ZIGLANG", "SYMMREPL_PYTHON"


def find() -> Optional[str]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "symmrepl")
    return path if os.access(path, os.X_OK) else None


def environment(variables: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """Returns a copy of the variables, by default of this process. It names this Python, and the folder of its ziglang if it has one."""
    copy = dict(os.environ if variables is None else variables)
    copy.setdefault(_PYTHON, sys.executable)
    if _ZIGLANG not in copy:
        spec = importlib.util.find_spec("ziglang")
        if spec is not None and spec.origin:
            copy[_ZIGLANG] = os.path.dirname(os.path.abspath(spec.origin))
    return copy


def run(arguments: List[str]) -> NoReturn:
    """Replaces this process by the program. If the package has no program, this process ends with a message."""
    path = find()
    if path is None:
        sys.exit("symmrepl: this package was installed without the program: install a wheel for this machine, which `make wheel` builds")
    os.execve(path, [path, *arguments], environment())
