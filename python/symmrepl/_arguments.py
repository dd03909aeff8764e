"""Checks of arguments. Each returns the argument in the form in which messages carry it.

An argument of a wrong type raises TypeError, any other wrong argument ArgumentError. Both name the argument.
"""

from __future__ import annotations

import json
import math
import operator
import os
import threading
from collections.abc import Collection, Mapping
from typing import Any, Dict, List, Optional, Tuple, Union

from .errors import ArgumentError

MAX_TEXT = 10 << 20
"""The longest text of an argument, in bytes."""


def kind(value: Any) -> str:
    """Returns the name of a value's type."""
    return type(value).__name__


def text(name: str, value: Any) -> str:
    """Checks a text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is of type {kind(value)}: a str is expected")
    if len(value) > MAX_TEXT:
        raise ArgumentError(f"{name} has {len(value)} characters: at most {MAX_TEXT} are taken")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as e:
        raise ArgumentError(f"{name} is not text: {e.reason} at character {e.start}") from None
    if size > MAX_TEXT:
        raise ArgumentError(f"{name} has {size} bytes: at most {MAX_TEXT} are taken")
    return str(value)


def word(name: str, value: Any) -> str:
    """Checks a text that goes to the command line or the environment of a process."""
    value = text(name, value)
    if "\0" in value:
        raise ArgumentError(f"{name} has a null character")
    return value


def path(name: str, value: Any) -> str:
    """Checks a path."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} is of type {kind(value)}: a str or a path is expected")
    return word(name, os.fspath(value))


def flag(name: str, value: Any) -> bool:
    """Checks a bool."""
    if not isinstance(value, bool) and kind(value) not in ("bool_", "bool"):  # numpy's bool is another type
        raise TypeError(f"{name} is of type {kind(value)}: True or False is expected")
    return bool(value)


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Checks an integer from low to high."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is a bool: an int is expected")
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is of type {kind(value)}: an int is expected") from None
    if not low <= n <= high:
        raise ArgumentError(f"{name} is out of range: a number from {low} to {high} is expected")
    return n


def seconds(name: str, value: Any) -> float:
    """Checks a time."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} is of type {kind(value)}: a number of seconds is expected")
    try:
        s = float(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise ArgumentError(f"{name} is no number of seconds: {e}") from None
    if not math.isfinite(s) or not 0 <= s <= threading.TIMEOUT_MAX:
        raise ArgumentError(f"{name} is {s}: seconds from 0 to {threading.TIMEOUT_MAX:.0f} are expected")
    return s


def rank(name: str, value: Any, size: int) -> int:
    """Checks the number of a rank."""
    return integer(name, value, 0, size - 1)


def ranks(name: str, value: Any, size: int) -> Optional[List[int]]:
    """Checks a rank or several, and returns them in ascending order; None means all."""
    if value is None:
        return None
    if isinstance(value, (str, bytes, bytearray, Mapping)):
        raise TypeError(f"{name} is of type {kind(value)}: an int or a list of int is expected")
    if not isinstance(value, Collection) or getattr(value, "shape", None) == ():
        return [rank(name, value, size)]
    chosen = sorted({rank(name, r, size) for r in value})
    if not chosen:
        raise ArgumentError(f"{name} is empty: None means all ranks")
    return chosen


def one_of(name: str, value: Any, choices: Tuple[str, ...]) -> Optional[str]:
    """Checks one of several words; None is allowed."""
    if value is None:
        return None
    if text(name, value) not in choices:
        raise ArgumentError(f"{name} is {value!r}: it may be {', '.join(choices)}")
    return str(value)


def word_of(name: str, value: Any, choices: Tuple[str, ...]) -> str:
    """Checks one of several words."""
    return one_of(name, text(name, value), choices) or ""


def is_number(value: Any) -> bool:
    """Reports whether a value is a bool, an int or a float, of Python or as a scalar of numpy."""
    return isinstance(value, (int, float)) or getattr(value, "shape", None) == () and hasattr(value, "item") and isinstance(value.item(), (int, float))


def go_number(name: str, value: Any) -> str:
    """Returns a number as an expression of Go."""
    return go_literal(name, value if isinstance(value, (int, float)) else value.item())


def go_literal(name: str, value: Union[bool, int, float, str]) -> str:
    """Returns a value as an expression of Go."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(integer(name, value, -(1 << 63), (1 << 63) - 1))
    if isinstance(value, float):
        digits = repr(float(value))  # repr of numpy's float has the name of its type
        return {"inf": "math.Inf(1)", "-inf": "math.Inf(-1)", "nan": "math.NaN()"}.get(digits, f"float64({digits})")
    whole = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return json.dumps(text(name, whole), ensure_ascii=False).replace("\x7f", "\\x7f")


def function(name: str, value: Any) -> Any:
    """Checks a function; None is allowed."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} is of type {kind(value)}: a function is expected")
    return value


def environment(name: str, value: Any) -> Dict[str, str]:
    """Checks variables of the environment; None means none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is of type {kind(value)}: a mapping from str to str is expected")
    variables: Dict[str, str] = {}
    for key, v in value.items():
        variable = word(f"a key of {name}", key)
        if not variable or "=" in variable:
            raise ArgumentError(f"{name} has the key {variable!r}, which is no name of a variable")
        variables[variable] = word(f"{name}[{variable!r}]", v)
    return variables
