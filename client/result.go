package client

import (
	"fmt"
	"strings"
)

// Result is what came of a cell.
type Result struct {
	Cell    int     // its number in the session
	Elapsed float64 // seconds, until the last rank was done
	Outputs []Output
	Values  []Value // of the last expression; equal ones of several ranks are one
	Errors  []Error // equal ones of several ranks are one

	size int
}

// Streams of an Output.
const (
	Stdout = 1
	Stderr = 2
	Note   = 3 // said by the session itself
)

// Output is something that some ranks printed alike.
type Output struct {
	Ranks   []int
	Stream  int
	Text    string
	Display *Display // of what is more than text
}

// Display is something in the forms that a front end may choose from, by MIME type. Binary ones are in base64.
type Display struct {
	Data     map[string]interface{} `json:"data"`
	Metadata map[string]interface{} `json:"metadata"`
	ID       string                 `json:"id"`
	Update   bool                   `json:"update"`
	Clear    bool                   `json:"clear"`
	Wait     bool                   `json:"wait"`
}

// Value is the value of a cell's last expression on some ranks.
type Value struct {
	Ranks []int
	Text  string
	Data  map[string]interface{} // further forms, by MIME type
}

// Error is what went wrong on some ranks.
type Error struct {
	Kind   string // "panic", "type", "timeout" …
	Ranks  []int
	Op     string
	Peer   int // the rank it concerns, or -1
	File   string
	Line   int
	Column int
	Msg    string
	Hint   string
	Detail string
}

// Error is the position, the message and the hint.
func (e Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d", e.File, e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// CellError is why a cell failed.
type CellError struct {
	Errors []Error
	size   int
}

// Error has a line for each error, with its ranks.
func (e *CellError) Error() string {
	var b strings.Builder
	for _, one := range e.Errors {
		b.WriteString(prefixed(prefix(one.Ranks, e.size), one.Error()))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String is what a prompt shows of the cell, errors aside: output and values, each line with the ranks it is of.
func (r *Result) String() string {
	var b strings.Builder
	for _, o := range r.Outputs {
		if o.Text != "" {
			b.WriteString(prefixed(prefix(o.Ranks, r.size), o.Text))
		}
	}
	for _, v := range r.Values {
		b.WriteString(prefixed(prefix(v.Ranks, r.size), v.Text))
	}
	return b.String()
}

// SimpleRender is by which notebooks show a result: as text and, if all ranks have the same value, in that value's forms.
func (r *Result) SimpleRender() map[string]interface{} {
	forms := map[string]interface{}{"text/plain": strings.TrimSuffix(r.String(), "\n")}
	if len(r.Values) == 1 {
		for mimeType, form := range r.Values[0].Data {
			forms[mimeType] = form
		}
	}
	return forms
}
