"""``%%symm`` and ``%%cuda`` cells in notebooks of Python.

A cell shows the same as in the project's own kernel: the program makes the messages, and this module
passes them to IPython.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from typing import Any, Dict, List, NoReturn, Optional

from .errors import Refused
from .results import Result, parse_ranks
from .session import Session, attach, start

STOP = "■"
"""The button that interrupts a cell in notebooks."""


class _Parser(argparse.ArgumentParser):
    """A parser of the line of a magic. It reports errors as IPython's UsageError."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"{self.prog}: {message}\n{self.format_usage().strip()}")


def _parser(name: str, description: str) -> _Parser:
    p = _Parser(prog=name, description=description, add_help=False)
    p.add_argument("-n", "--ranks", type=int, default=None, metavar="N", help="start the session with N ranks")
    p.add_argument("--device", default=None, help="start the session on this device: auto, cpu or cuda")
    p.add_argument("--attach", nargs="?", const="", default=None, metavar="DIR", help="attach to a running session")
    return p


_symm = _parser("%%symm", "Runs a cell of Go on all ranks.")
_symm.add_argument("--on", default=None, metavar="RANKS", help="run it on these ranks only, such as 0,2 or 0-3")
_symm.add_argument("-o", "--out", default=None, metavar="NAME", help="keep the result as this variable of Python")
_symm.add_argument("--close", action="store_true", help="end the session")

_cuda = _parser("%%cuda", "Compiles CUDA C++ on all ranks, and launches the kernel if a grid or a block is given.")
_cuda.add_argument("name", nargs="?", default=None, help="the variable of Go that holds the kernel; by default the kernel's name")
_cuda.add_argument("arguments", nargs="*", help="the kernel's arguments, as expressions of Go")
_cuda.add_argument("-g", "--grid", default=None, help="launch with this grid: 8 or 8,4")
_cuda.add_argument("-b", "--block", default=None, help="launch with this block: 128 or 16,8")

_get = _Parser(prog="%symm_get", add_help=False)
_get.add_argument("expr", nargs="+")
_get.add_argument("--rank", type=int, default=None)
_get.add_argument("--to", default=None, choices=["numpy", "torch", "tensor"])

_put = _Parser(prog="%symm_put", add_help=False)
_put.add_argument("name")
_put.add_argument("expr", nargs="*", help="an expression of Python; by default the variable with that name")
_put.add_argument("--by-rank", action="store_true")
_put.add_argument("--local", action="store_true", help="an ordinary tensor")
_put.add_argument("--on", default=None, metavar="RANKS")
_put.add_argument("--dtype", default=None)


class Magics:
    """The magics of one shell, which share one session."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.session: Optional[Session] = None
        self._ids = 0

    def open(self, n: Optional[int], device: Optional[str], directory: Optional[str]) -> Session:
        """Returns the session. If there is none, open starts one or attaches to one."""
        s = self.session
        if s is not None and not s.closed:
            if (
                n is not None
                and n != s.size
                or directory is not None
                or device not in (None, "auto")
                and not s.device.startswith(str(device))
            ):
                raise Refused(f"{s!r} is open, and a cell cannot change its size or device: `%symm --close` ends it")
            return s
        if directory is not None:
            self.session = attach(directory or None)
        else:
            self.session = start(n, device)
        return self.session

    def symm(self, line: str, cell: Optional[str] = None) -> None:
        """%%symm [-n N] [--device KIND] [--attach [DIR]] [--on RANKS] [-o NAME]; %symm ENTRY runs one line."""
        if cell is None and not line.startswith("-"):
            self._run(self.open(None, None, None), line, 1, None)
            return
        args = _symm.parse_args(_words(line, quotes=False))
        if args.close:
            if self.session is not None:
                self.session.close()
            self.session = None
            return
        session = self.open(args.ranks, args.device, args.attach)
        if cell is not None:
            result = self._run(session, cell, 2, args.on)
            if args.out:
                self.shell.user_ns[args.out] = result

    def cuda(self, line: str, cell: str) -> None:
        """%%cuda [NAME] [-g GRID -b BLOCK ARGUMENT…]"""
        args = _cuda.parse_args(_words(line))
        kernels = re.findall(r"__global__[^;{(]*?\b([A-Za-z_]\w*)\s*\(", re.sub(r"__launch_bounds__\s*\([^)]*\)", "", cell))
        name = args.name or (kernels[0] if kernels else None)
        if name is None:
            raise Refused("the cell has no kernel: a function that is declared __global__")
        title = self._title()
        text = cell.replace("`", '` + "`" + `')
        source = f'{name} := symm.CompileAt("{title}", 2, `{text}`)'
        session = self.open(args.ranks, args.device, args.attach)
        if args.grid or args.block:
            launch = [f"symm.Grid({args.grid or 1})", f"symm.Block({args.block or 1})", *args.arguments]
            source += f"\n{name}.Launch({', '.join(launch)})"
        self._run(session, source, 1, None)

    def get(self, line: str) -> Any:
        """%symm_get EXPR [--rank N] [--to numpy|torch|tensor]"""
        args = _get.parse_args(_words(line))
        return self.open(None, None, None).get(" ".join(args.expr), args.rank, to=args.to)

    def put(self, line: str) -> None:
        """%symm_put NAME [EXPR] [--by-rank] [--local] [--on RANKS] [--dtype TYPE]"""
        args = _put.parse_args(_words(line))
        value = self.shell.ev(" ".join(args.expr) or args.name)
        ranks = None if args.on is None else parse_ranks(args.on)
        self.open(None, None, None).put(args.name, value, ranks, by_rank=args.by_rank, symmetric=not args.local, dtype=args.dtype)

    def _title(self) -> str:
        """Returns the name of the notebook's cell for positions."""
        # In some versions of IPython, execution_count already counts the next cell.
        return f"In[{max(1, len(self.shell.user_ns['In']) - 1)}]"

    def _run(self, session: Session, source: str, line: int, on: Optional[str]) -> Result:
        ranks = None if on is None or on == "all" else parse_ranks(on)
        self._ids += 1
        return session._run(
            source, ranks, name=self._title(), line=line, show=f"symm-{id(self)}-{self._ids}", on_show=self._show, stdin=_line, stop=STOP
        )  # fmt: skip

    def _show(self, kind: str, content: Dict[str, Any]) -> None:
        """Passes a message of the program to the front end."""
        if kind == "stream":
            stream = sys.stderr if content["name"] == "stderr" else sys.stdout
            stream.write(content["text"])
            stream.flush()
        elif kind == "clear_output":
            self.shell.display_pub.clear_output(content["wait"])
        elif kind != "error":  # an error becomes an exception
            self.shell.display_pub.publish(
                data=content["data"],
                metadata=content["metadata"],
                transient=content.get("transient") or {},
                update=kind == "update_display_data",
            )


def _line() -> Optional[str]:
    """Asks the user for a line; returns None if the front end cannot ask."""
    try:
        return input()
    except (EOFError, NotImplementedError):
        return None


def _words(line: str, quotes: bool = True) -> List[str]:
    """Splits a line into words, and keeps their quotes if quotes is set."""
    try:
        return shlex.split(line, posix=not quotes)
    except ValueError as e:
        raise Refused(f"{line!r} cannot be split into words: {e}") from None


_loaded: Dict[int, Magics] = {}


def load(shell: Any) -> None:
    """Adds the magics to a shell."""
    magics = _loaded.setdefault(id(shell), Magics(shell))
    shell.register_magic_function(magics.symm, "line_cell", "symm")
    shell.register_magic_function(magics.cuda, "cell", "cuda")
    shell.register_magic_function(magics.get, "line", "symm_get")
    shell.register_magic_function(magics.put, "line", "symm_put")


def unload(shell: Any) -> None:
    """Ends the session of a shell's magics."""
    magics = _loaded.pop(id(shell), None)
    if magics is not None and magics.session is not None:
        magics.session.close()


def session() -> Optional[Session]:
    """Returns the session of the magics in this notebook; None if there is none yet."""
    return next((m.session for m in _loaded.values() if m.session is not None), None)
