"""``python -m symmrepl`` is the command symmrepl."""

from ._program import main

main()
