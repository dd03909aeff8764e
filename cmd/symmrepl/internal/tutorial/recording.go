package tutorial

import (
	"fmt"
	"strings"
)

// Recording holds the output of a tutorial's cells in the order in which they run. An exercise has
// two: its start, and its check, which refuses the start.
type Recording []Shown

// Shown is the output of one cell, in order.
type Shown []Piece

// Piece is text of one kind, in lines that begin with their ranks.
type Piece struct {
	Kind string // Stdout, Stderr, Value, Finding, or Error and the error's kind
	Text string // whole lines
}

// Kinds of pieces.
const (
	Stdout  = "stdout"
	Stderr  = "stderr"
	Value   = "value"
	Finding = "finding" // of the sanitizer
	Error   = "error"
)

// Marks of a recording's file. Text never begins like them: it begins with "[".
const (
	cellMark  = "== "
	pieceMark = "-- "
)

// Format returns the recording as a file.
func (r Recording) Format() string {
	var b strings.Builder
	for i, shown := range r {
		fmt.Fprintf(&b, "%s%d\n", cellMark, i+1)
		for _, p := range shown {
			b.WriteString(pieceMark + p.Kind + "\n" + p.Text)
		}
	}
	return b.String()
}

// ParseRecording reads the output of Format.
func ParseRecording(text string) (Recording, error) {
	var r Recording
	for line := range strings.Lines(text) {
		last := len(r) - 1
		switch {
		case line == fmt.Sprintf("%s%d\n", cellMark, last+2):
			r = append(r, nil)
		case last < 0:
			return nil, fmt.Errorf("a recording begins with %q, not %q", cellMark+"1", line)
		case strings.HasPrefix(line, pieceMark):
			r[last] = append(r[last], Piece{Kind: strings.TrimSpace(line[len(pieceMark):])})
		case len(r[last]) == 0:
			return nil, fmt.Errorf("cell %d of a recording has text of no kind", last+1)
		default:
			r[last][len(r[last])-1].Text += line
		}
	}
	return r, nil
}

// Runs returns the cells of the lesson in the order of a recording.
func (l Lesson) Runs() []Cell {
	var cells []Cell
	for _, s := range l.Steps {
		switch {
		case s.Cell != nil:
			cells = append(cells, *s.Cell)
		case s.Exercise != nil:
			check := s.Exercise.Check
			check.Fails = true // the start does not solve the exercise
			cells = append(cells, s.Exercise.Start, check)
		}
	}
	return cells
}
