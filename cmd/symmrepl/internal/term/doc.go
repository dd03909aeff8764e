// Package term is the prompt: it reads entries from a terminal and runs them on a console.
//
// The terminal stays in raw mode without signals from the first prompt to the last, also while a cell runs:
// Ctrl-C is then a byte like any other, which means "interrupt the cell" while one runs and "clear the line"
// otherwise, and which a launcher that shares the terminal (torchrun, mpirun) never sees. Output processing
// stays on, so that programs' newlines need no translation. keys.go owns the terminal's input at all times
// and hands it to readline line by line.
package term
