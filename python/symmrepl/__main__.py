"""The command symmrepl, which is also ``python -m symmrepl``."""

import sys
from typing import NoReturn

from . import _program


def main() -> NoReturn:
    arguments = sys.argv[1:]
    if arguments[:1] == ["lab"]:
        from .lab import main as lab

        sys.exit(lab(arguments[1:]))
    _program.run(arguments)


if __name__ == "__main__":
    main()
