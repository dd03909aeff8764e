package client

import (
	"fmt"
	"strings"
)

// Result is the result of a cell.
type Result struct {
	Cell    int     // the cell's number in the session
	Elapsed float64 // seconds until the last rank finished
	Outputs []Output
	Values  []Value // of the last expression; ranks with equal values share one
	Errors  []Error // ranks with equal errors share one

	size int
}

// Streams of an Output.
const (
	Stdout = 1
	Stderr = 2
	Note   = 3 // messages of the session itself
)

// Output is output that is identical on some ranks.
type Output struct {
	Ranks   []int
	Stream  int
	Text    string
	Display *Display // rich output; nil for text
}

// Display is rich output in several forms, by MIME type; a front end chooses one. Binary forms are
// in base64.
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

// Error is an error that is identical on some ranks.
type Error struct {
	Kind   string // "panic", "type", "timeout" …
	Ranks  []int
	Op     string
	Peer   int // the peer of the operation, or -1
	File   string
	Line   int
	Column int
	Msg    string
	Hint   string
	Detail string
}

// Error returns the position, the message and the hint.
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

// CellError is the error of a failed cell.
type CellError struct {
	Errors []Error
	size   int
}

// Error returns one line for each error, with its ranks.
func (e *CellError) Error() string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	for _, one := range e.Errors {
		b.WriteString(prefixed(prefix(one.Ranks, e.size), one.Error()))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String returns the text that a prompt shows for the cell, without errors: output and values, each
// line with its ranks. It returns "" for a nil result, which Eval returns if no cell ran.
func (r *Result) String() string {
	if r == nil {
		return ""
	}
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

// SimpleRender returns the forms in which notebooks show a result: text and, if all ranks have the
// same value, that value's forms.
func (r *Result) SimpleRender() map[string]interface{} {
	forms := map[string]interface{}{"text/plain": strings.TrimSuffix(r.String(), "\n")}
	if r != nil && len(r.Values) == 1 {
		for mimeType, form := range r.Values[0].Data {
			forms[mimeType] = form
		}
	}
	return forms
}
