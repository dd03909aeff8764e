"""Parameters in Go: papermill loads this module by its entry point, and then knows how to write them."""

import json
import re

from papermill.engines import NBClientEngine as Engine  # what the entry point has to name; papermill uses the same without it
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

__all__ = ["Engine", "Go"]

# A line that declares variables: n := 1, or var n int = 1. A comment at its end describes them.
DECLARATION = re.compile(r"(?:var\s+(?P<var>\w+(?:\s*,\s*\w+)*)(?P<type>\s+[^=\s][^=]*?)?(?:\s*=\s*(?P<is>.*?))?|(?P<short>\w+(?:\s*,\s*\w+)*)\s*:=\s*(?P<value>.*?))(?:\s+//\s*(?P<help>.*))?")


class Go(Translator):
    @classmethod
    def translate_str(cls, value):
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def translate_float(cls, value):
        return {"inf": "math.Inf(1)", "-inf": "math.Inf(-1)", "nan": "math.NaN()"}.get(str(value), str(value))

    @classmethod
    def translate_none(cls, value):
        return "nil"

    @classmethod
    def translate_list(cls, value):
        return "[]any{" + ", ".join(map(cls.translate, value)) + "}"

    @classmethod
    def translate_dict(cls, value):
        return "map[string]any{" + ", ".join(f"{cls.translate(str(k))}: {cls.translate(v)}" for k, v in value.items()) + "}"

    @classmethod
    def assign(cls, name, text):
        return f"var {name} any" if text == "nil" else f"var {name} = {text}"

    @classmethod
    def comment(cls, text):
        return f"// {text}".strip()

    @classmethod
    def inspect(cls, cell):
        """The parameters that a notebook's cell of parameters declares, each line some: what papermill --help-notebook lists."""
        found = []
        for line in cell["source"].splitlines():
            m = DECLARATION.fullmatch(line.strip())
            if m is None:
                continue
            names = re.split(r"\s*,\s*", m["var"] or m["short"])
            value = (m["is"] or m["value"] or "") if len(names) == 1 else ""
            found += [Parameter(name, (m["type"] or "None").strip(), value, m["help"] or "") for name in names]
        return found


papermill_translators.register("go", Go)
