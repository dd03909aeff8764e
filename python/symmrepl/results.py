"""The answers of a session, as objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import _arguments as arguments
from . import literals
from .errors import ArgumentError
from .remote import alike


MAX_RANKS = 1 << 16
"""More ranks than a session has."""


def format_ranks(ranks: Sequence[int]) -> str:
    """Formats an ascending list of ranks, with runs shortened: ``0-3``, ``0,2``, ``0-2,5``."""
    parts: List[str] = []
    i = 0
    while i < len(ranks):
        j = i
        while j + 1 < len(ranks) and ranks[j + 1] == ranks[j] + 1:
            j += 1
        if j > i + 1:
            parts.append(f"{ranks[i]}-{ranks[j]}")
        else:
            parts += [str(r) for r in ranks[i : j + 1]]
        i = j + 1
    return ",".join(parts)


def parse_ranks(text: str) -> List[int]:
    """Returns the ranks in a text as :func:`format_ranks` writes it."""
    ranks: List[int] = []
    for part in text.strip().strip("[]").split(","):
        if part.strip():
            low, dash, high = (word.strip() for word in part.partition("-"))
            if not low.isdecimal() or dash and not high.isdecimal():
                raise ArgumentError(f"ranks: {text!r} is no list such as 0,2 or 0-3")
            first, last = int(low[:9]), int((high or low)[:9])
            if last - first >= MAX_RANKS:
                raise ArgumentError(f"ranks: {text!r} are too many")
            ranks += range(first, last + 1)
    return ranks


def _prefixed(ranks: Sequence[int], size: int, text: str) -> str:
    text = text[:-1] if text.endswith("\n") else text
    prefix = f"[{format_ranks(ranks)}] " if size > 1 and ranks else ""
    return "".join(f"{prefix}{line}\n" for line in text.split("\n"))


@dataclass(frozen=True)
class Wait:
    """A wait of a rank for other ranks."""

    op: str
    """The operation, such as ``wait_signal``."""
    peers: List[int]
    """The awaited ranks; empty if they are not known."""
    what: str
    """The awaited event, such as ``a signal on channel 3``."""
    at: str
    """The position of the call, such as ``cell[3]:7``; empty if it is not known."""
    seconds: float
    """How long it had lasted."""
    group: str
    """The group of a collective call."""

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> Wait:
        peers = m.get("Peers") or ""
        return cls(m["Op"], parse_ranks(peers) if isinstance(peers, str) else list(peers), m["For"], m["At"], m["Since"], m["Group"])


@dataclass(frozen=True)
class HangRow:
    """The state of some ranks while a wait could not end."""

    ranks: List[int]
    doing: str
    """The state in words, such as ``has finished the cell``."""
    seconds: float
    """How long it had lasted; 0 if it is not known."""
    waits: List[Wait]
    """The waits of the first of these ranks; empty if that rank did not wait."""

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> HangRow:
        return cls(m["Ranks"], m["Doing"], m["For"], [Wait.read(w) for w in m.get("Waits") or []])


@dataclass(frozen=True)
class Hang:
    """A report of waits that cannot end."""

    text: str
    rows: List[HangRow]

    @property
    def waiting(self) -> List[int]:
        """The ranks that wait."""
        return sorted(r for row in self.rows if row.waits for r in row.ranks)

    @property
    def awaited(self) -> List[int]:
        """The ranks for which others wait and which do not wait themselves."""
        peers = {p for row in self.rows for w in row.waits for p in w.peers}
        return sorted(peers - set(self.waiting))


@dataclass(frozen=True)
class Access:
    """An access to memory that a finding reports."""

    rank: int
    op: str
    kernel: str
    place: str
    """The position in the user's text, such as ``cell[3]:7:12``."""
    source: str
    """The line of the user's text at that position."""
    block: Tuple[int, ...]
    thread: Tuple[int, ...]

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> Access:
        place, launched, source = "", m.get("launched", ""), m.get("source", "")
        if m.get("file"):
            place = f"{m['file']}:{m.get('line', 0)}" + (f":{m['column']}" if m.get("column") else "")
        if not place or not source and launched:
            place = launched
        return cls(m["rank"], m["op"], m.get("kernel", ""), place, source or m.get("call", ""), tuple(m["block"]), tuple(m["thread"]))


@dataclass(frozen=True)
class Finding:
    """A mistake in kernels or calls of a cell, found by the sanitizer."""

    kind: str
    """The kind of the mistake, such as ``race between ranks``."""
    ranks: List[int]
    cell: int
    accesses: List[Access]
    """One or two accesses, the later access first."""
    memory: str
    order: str
    repair: str
    """A proposal how to change the code."""
    seed: int
    """The seed with which the sanitizer reports the mistake again."""
    allowed: str
    """The comment that exempts this finding; empty if there is none."""
    text: str = field(repr=False)
    html: str = field(repr=False)

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> Finding:
        return cls(
            m["kind"], m["ranks"], m["cell"], [Access.read(a) for a in m["accesses"] or []], m.get("memory", ""), m.get("order", ""),
            m.get("repair", ""), m["seed"], m.get("allowed", ""), m["text"], m["html"],
        )  # fmt: skip

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True)
class Output:
    """Output that is equal on some ranks."""

    ranks: List[int]
    stream: str
    """``stdout``, ``stderr``, ``note`` for remarks of the session, ``console`` for what commands print."""
    text: str
    display: Optional[Dict[str, Any]] = None
    """Rich output by MIME type, in ``display["data"]``; None for text."""
    hang: Optional[Hang] = None
    """The report, if this is a note about waits that cannot end."""
    topic: str = ""
    """The topic of a note. In a result, a later note with the same topic replaces this note."""

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> Output:
        hang = Hang(m["text"], [HangRow.read(r) for r in m["hang"]]) if m.get("hang") else None
        return cls(m["ranks"] or [], m["stream"], m["text"], m.get("display"), hang, m.get("topic", ""))


@dataclass(frozen=True)
class Value:
    """The printed value of a cell's last expression, equal on some ranks."""

    ranks: List[int]
    text: str
    data: Dict[str, Any] = field(default_factory=dict)
    """Other forms of the value, by MIME type."""

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> Value:
        return cls(m["ranks"], m["text"], m.get("data") or {})


@dataclass(frozen=True)
class RankError:
    """An error that is equal on some ranks."""

    kind: str
    ranks: List[int]
    cell: int
    op: str
    peer: Optional[int]
    """The other rank of the operation; None if there is none."""
    file: str
    line: int
    column: int
    message: str
    source: str
    """The line of the user's text."""
    hint: str
    """A proposal what to do next; may be empty."""
    detail: str
    """Longer text: the messages of a compiler, or a stack."""
    hang: List[HangRow]
    """The states of the ranks, if the error is a deadlock."""
    text: str = field(repr=False)
    """The error as a prompt shows it, with its ranks."""

    @classmethod
    def read(cls, m: Mapping[str, Any]) -> RankError:
        return cls(
            m["kind"], m["ranks"] or [], m["cell"], m["op"], None if m["peer"] < 0 else m["peer"], m["file"], m["line"], m["column"],
            m["msg"], m["source"], m["hint"], m["detail"], [HangRow.read(r) for r in m.get("hang") or []], m["text"],
        )  # fmt: skip

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class RankInfo:
    """A rank's process."""

    rank: int
    host: str
    pid: int
    device: str
    incarnation: int
    """The number of processes that this rank has had, including this one."""
    state: str
    """``idle``, ``running``, ``waiting``, ``stopped``, ``starting`` or ``dead``."""
    doing: str
    """The activity or the wait of the rank; empty if it is not known."""
    rss: int
    """Resident memory in bytes."""
    replaced: int
    """The cell after which this process replaced an earlier one, so that older variables are lost; 0 for a first process."""


@dataclass(frozen=True)
class Variable:
    """A variable of the session on one rank."""

    name: str
    type: str
    bytes: int
    value: str


@dataclass(repr=False)
class Result:
    """The outcome of an entry."""

    size: int
    """The number of ranks of the session."""
    cell: int = 0
    """The number of the cell in the session; 0 if the entry was not a cell."""
    elapsed: float = 0.0
    """Seconds until the last rank was done."""
    outputs: List[Output] = field(default_factory=list)
    values: List[Value] = field(default_factory=list)
    """The values of the ranks. Ranks with equal values share one entry."""
    findings: List[Finding] = field(default_factory=list)
    errors: List[RankError] = field(default_factory=list)

    @property
    def value(self) -> Optional[str]:
        """The printed value, if all ranks have the same one; None otherwise."""
        return self.values[0].text if len(self.values) == 1 else None

    @property
    def by_rank(self) -> Dict[int, str]:
        """The printed value of each rank."""
        return {r: v.text for v in self.values for r in v.ranks}

    @property
    def python(self) -> Any:
        """The value as an object of Python, or if the ranks have different values, a dict from ranks to objects.

        Slices become lists, maps and structs dicts, nil None. A whole number is an int. The text stands for
        other values, such as tensors, and for values that are printed shortened: Session.get fetches these.
        """
        return alike(self.rank_values)

    @property
    def rank_values(self) -> Dict[int, Any]:
        """The value of each rank as an object of Python."""
        return {r: literals.read(text) for r, text in sorted(self.by_rank.items())}

    @property
    def hangs(self) -> List[Hang]:
        """The last version of each report of waits that cannot end."""
        return [o.hang for o in self.outputs if o.hang]

    def output(self, rank: Optional[int] = None, streams: Iterable[str] = ("stdout", "stderr", "console")) -> str:
        """Returns the printed text: of one rank, or of all ranks with the ranks in front of each line."""
        if isinstance(streams, str) or not isinstance(streams, Iterable):
            raise TypeError(f"streams is of type {arguments.kind(streams)}: a tuple of names is expected")
        chosen = [arguments.text("a name in streams", stream) for stream in streams]
        wanted = [o for o in self.outputs if o.stream in chosen]
        if rank is not None:
            rank = arguments.rank("rank", rank, self.size)
            return "".join(o.text for o in wanted if rank in o.ranks or not o.ranks)
        return "".join(_prefixed(o.ranks, self.size, o.text) for o in wanted if o.text)

    def __repr__(self) -> str:
        what = "an entry" if self.cell == 0 else f"cell {self.cell}"
        return f"<symmrepl.Result of {what}, {self.elapsed:.3f} s{', failed' if self.errors else ''}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Prints the result for IPython."""
        printer.text(str(self) or repr(self))

    def __str__(self) -> str:
        """Returns output and values as a prompt shows them, with the ranks in front of each line."""
        shown = self.output() + "".join(_prefixed(v.ranks, self.size, v.text) for v in self.values)
        return shown[:-1] if shown.endswith("\n") else shown
