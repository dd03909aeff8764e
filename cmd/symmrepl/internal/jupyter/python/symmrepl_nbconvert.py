"""nbconvert --to script of a Go notebook: a file of cells, which `symmrepl run` runs and shows as the notebook does."""

import re

from nbconvert.exporters import Exporter

# What Go reads as one: a comment, or a string, in which nothing is a comment.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)


def indented(source):
    """A space before each comment that looks like the first line of a cell."""

    def token(found):
        begins = found[0].startswith("// %%") and source[: found.start()][-1:] in ("", "\n")
        return " " * begins + found[0]

    return TOKEN.sub(token, source)


class GoExporter(Exporter):
    """Code as it is; text as comments."""

    file_extension = ".go"
    output_mimetype = "text/x-go"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        return "\n".join(["//go:build ignore\n", *map(self.cell, nb.cells)]), resources

    def cell(self, cell):
        source = cell.source.strip("\n")
        if cell.cell_type != "code":
            lines = [f"//{' ' * (1 + line.startswith('%%'))}{line}".rstrip() for line in source.splitlines()]
            return "\n".join([f"// %% [{cell.cell_type}]", *lines, ""])
        if source.startswith("%%rank"):  # the ranks that run it
            return f"// {indented(source)}\n"
        return f"// %%\n{indented(source)}\n"
