"""Parameters in Go: papermill loads this module by its entry point, and then knows how to write them."""

import json

from papermill.engines import NBClientEngine as Engine  # what the entry point has to name; papermill uses the same without it
from papermill.translators import Translator, papermill_translators

__all__ = ["Engine", "Go"]


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


papermill_translators.register("go", Go)
