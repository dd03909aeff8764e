package casefile

import (
	"fmt"
	"slices"
)

// File is a file with cases.
type File struct {
	Name  string
	Text  string // of the kernels; its lines have the numbers that they have in the file
	Cases []Case
}

// Case is one test.
type Case struct {
	Name     string
	Line     int   // of its first line
	Ranks    []int // the numbers of ranks that it is for; nil: any
	Hosts    int   // the number of simulated hosts; 0: one host
	Steps    []Step
	Findings []Outcome // findings that the case must have; others are failures
	Errors   []Outcome // errors that the case must end with
}

// Launches reports whether the case launches a kernel.
func (c Case) Launches() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { _, is := s.(Launch); return is })
}

// Step is a statement that runs: a Tensor, Launch, Compare, Meet or Go.
type Step interface{ Position() int }

// Line is the number of a statement's first line.
type Line int

// Position returns the line.
func (l Line) Position() int { return int(l) }

// Tensor makes a tensor.
type Tensor struct {
	Line
	Name      string
	Symmetric bool
	Type      string
	Shape     []string // expressions of Go
	Fill      string   // a formula; "": zeros
}

// Launch launches a kernel.
type Launch struct {
	Line
	Kernel      string   // with the arguments of a template: "scale<float>"
	Grid, Block []string // one to three expressions of Go
	Shared      string   // bytes of shared memory, an expression of Go; "": none
	Args        []string // expressions of Go
	On          []string // the ranks that launch it, expressions of Go; nil: all
	Repeat      string   // how often, an expression of Go; "": once
	Stream      string   // the name of the stream; "": the current one
}

// Compare compares a tensor with a formula.
type Compare struct {
	Line
	Name       string
	Formula    string
	Close      bool     // within Relative and Absolute; otherwise equal
	Relative   string   // a number; "": the default
	Absolute   string   // a number; "": the default
	On         []string // the ranks that compare, expressions of Go; nil: all
	FormulaCol int      // the column of the formula in its line, from 1
}

// Meet waits for all ranks.
type Meet struct{ Line }

// Go is a statement of Go.
type Go struct {
	Line
	Text string
}

// Outcome is a finding or an error that a case must have.
type Outcome struct {
	Line
	Text string // the beginning of its kind, or a part of its message; "": any
}

// Error is a mistake in a case.
type Error struct {
	File         string
	Line, Column int // from 1
	Msg          string
	Hint         string
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}
