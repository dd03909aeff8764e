"""The program that this package carries, bin/symmrepl beside this file, and its start.

``find()`` returns its path, or None where the package was installed without it. ``environment()`` adds to the variables of a process that starts it
where the compiler of the package ziglang is, which the program uses if it finds no other.
"""

import importlib.util
import os
import sys
from typing import Dict, List, Mapping, NoReturn, Optional

_ZIGLANG = "SYMMREPL_ZIGLANG"


def find() -> Optional[str]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "symmrepl")
    return path if os.access(path, os.X_OK) else None


def environment(variables: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """A copy of the variables, by default this process's. If they do not name a folder of ziglang and this Python has ziglang, the copy names it."""
    copy = dict(os.environ if variables is None else variables)
    if _ZIGLANG not in copy:
        spec = importlib.util.find_spec("ziglang")
        if spec is not None and spec.origin:
            copy[_ZIGLANG] = os.path.dirname(os.path.abspath(spec.origin))
    return copy


def run(arguments: List[str]) -> NoReturn:
    """Becomes the program; ends this process with a message if there is none."""
    path = find()
    if path is None:
        sys.exit("symmrepl: this package was installed without the program: install a wheel for this machine, which `make wheel` builds")
    os.execve(path, [path, *arguments], environment())


def main() -> NoReturn:
    """What the command symmrepl and ``python -m symmrepl`` run."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["lab"]:
        from .lab import main as lab

        sys.exit(lab(arguments[1:]))
    run(arguments)
