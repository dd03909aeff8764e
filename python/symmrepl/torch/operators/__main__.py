"""Prints the table of operators."""

from . import table

if __name__ == "__main__":
    print(table())
