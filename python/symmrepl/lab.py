"""``symmrepl lab [FOLDER]`` opens the notebooks of the tutorials in JupyterLab."""

import importlib.util
import os
import shutil
import subprocess
import sys
from typing import List

from ._program import environment

CONTENTS = "contents.ipynb"

HELP = """usage: symmrepl lab [FOLDER]

Opens the lessons and the gallery in JupyterLab. The notebooks are copied to FOLDER, by default
symmrepl-notebooks in this folder; a notebook that is there already stays as it is.

JupyterLab must be installed in the same environment: pip install jupyterlab. Its kernel symmrepl starts
a rank for each GPU, or 4 on the cpu device; symmrepl kernel install -n 8 registers one with other flags.
"""


def copy(folder: str) -> None:
    """Copies the notebooks into a folder. It does not replace a file that exists, because the file may hold the user's answers."""
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "notebooks")
    for name in sorted(os.listdir(source)):
        if not os.path.exists(os.path.join(folder, name)):
            shutil.copyfile(os.path.join(source, name), os.path.join(folder, name))


def main(arguments: List[str]) -> int:
    if any(a in ("-h", "--help") for a in arguments):
        print(HELP, end="")
        return 0
    if len(arguments) > 1 or arguments[:1] and arguments[0].startswith("-"):
        print("usage: symmrepl lab [FOLDER]; symmrepl lab --help says more", file=sys.stderr)
        return 2
    if importlib.util.find_spec("jupyterlab") is None:
        print(f"symmrepl: JupyterLab is not installed: {sys.executable} -m pip install jupyterlab", file=sys.stderr)
        return 3
    folder = arguments[0] if arguments else "symmrepl-notebooks"
    copy(folder)
    return subprocess.call([sys.executable, "-m", "jupyterlab", os.path.join(folder, CONTENTS)], env=environment())
