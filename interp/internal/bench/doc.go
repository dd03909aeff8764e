// Command bench measures the interpreter of cells: programs beside plain yaegi, the time that a large cell takes before it runs, and what a session costs
// that has seen thousands of cells. It prints the tables of docs/benchmarks.md.
package main
