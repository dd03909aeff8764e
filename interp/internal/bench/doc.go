// Command bench measures the interpreter of cells: programs compared to plain yaegi, the time to
// compile a large cell, and the cost of a session with thousands of cells. It prints the tables of
// docs/benchmarks.md.
package main
