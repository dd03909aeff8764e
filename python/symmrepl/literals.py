"""Reads values as cells print them, in the syntax of Go."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Tuple

_NUMBER = r"[+-]?(?:Inf|NaN|0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_TOKENS = re.compile(rf'\s*(?:(?P<complex>\((?P<re>{_NUMBER})(?P<im>[+-]?{_NUMBER})i\))|(?P<number>{_NUMBER})|(?P<text>"(?:[^"\\]|\\.)*"))')
_TYPE = re.compile(r"\s*(?P<type>&?(?:map\[\w+\]|\[\d*\])*(?:struct\{[^{}]*\}|[A-Za-z_][\w.]*))(?=[{(])")
_FIELD = re.compile(r"\s*([A-Za-z_]\w*): ")
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_WORDS = {"true": True, "false": False, "nil": None}


def read(text: str) -> Any:
    """Returns the value of a literal of Go. Any other text is returned as it is.

    Slices and arrays become lists, maps and structs become dicts, nil becomes None, and bytes of a
    string that are not UTF-8 become surrogates. A text is no literal if it describes a tensor or
    leaves out elements.
    """
    try:
        value, end = _value(text, 0, False)
    except (ValueError, RecursionError):
        return text
    return text if text[end:].strip() else value


def _value(text: str, at: int, floats: bool) -> Tuple[Any, int]:
    """Reads the value at a position. Returns it and the position after it. floats says that numbers are floats."""
    m = _TOKENS.match(text, at)
    if m and m["complex"]:
        return complex(float(m["re"]), float(m["im"])), m.end()
    if m and m["number"]:
        return _number(m["number"], floats), m.end()
    if m and m["text"]:
        return _unquoted(m["text"]), m.end()
    m = _TYPE.match(text, at)
    if m:
        return _composite(text, m.end(), m["type"])
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    raise ValueError(at)


def _number(text: str, floats: bool) -> Any:
    if not floats and re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return int(text, 16) if "x" in text else float(text)


def _unquoted(text: str) -> str:
    def replace(m: "re.Match[bytes]") -> bytes:
        code = m[1]
        if len(code) == 1:
            return _ESCAPES.get(code, code)
        n = int(code[1:], 16)
        return bytes([n]) if code[:1] == b"x" else chr(n).encode()

    return _ESCAPE.sub(replace, text[1:-1].encode()).decode("utf-8", "surrogateescape")


def _composite(text: str, at: int, kind: str) -> Tuple[Any, int]:
    """Reads what follows the name of a type: elements in braces, or one value in parentheses."""
    element = kind.rpartition("]")[2]
    floats = element in ("float32", "float64")
    if text[at] == "(":
        value, at = _value(text, at + 1, floats)
        if text[at : at + 1] != ")":
            raise ValueError(at)
        return value, at + 1
    items: List[Any] = []
    fields: Dict[Any, Any] = {}
    keyed = kind.lstrip("&").startswith("map[")
    at += 1
    while True:
        while text[at : at + 1] in (" ", "\n", "\t", ","):
            at += 1
        if text[at : at + 1] == "}":
            break
        field = None if keyed else _FIELD.match(text, at)
        if field:
            key, at = field[1], field.end()
        elif keyed:
            key, at = _value(text, at, False)
            if text[at : at + 1] != ":":
                raise ValueError(at)
            at += 1
        value, at = _value(text, at, floats)
        if field or keyed:
            fields[key] = value
        else:
            items.append(value)
    whole: Any = items if kind.lstrip("&").startswith("[") else fields
    return whole, at + 1
