package kernelfile

import (
	"fmt"
	"strings"
)

// Error is a file that cannot be used.
type Error struct {
	File string
	Msg  string
	Hint string // what to do next; may be empty
	Err  error  // the cause, or nil
}

// Error is "k.cubin: it ends within section .text.scale (copy the file again)".
func (e *Error) Error() string {
	text := e.Text()
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Text is Error without the hint.
func (e *Error) Text() string { return e.File + ": " + e.Msg }

func (e *Error) Unwrap() error { return e.Err }

// fault is a fault in the contents of a file. Open and For add the file's name.
func fault(hint, format string, args ...any) *Error {
	return &Error{Hint: hint, Msg: fmt.Sprintf(format, args...)}
}

// copyAgain is the hint for a file that is incomplete or damaged.
const copyAgain = "the file is incomplete or damaged: make it again, or copy it again"

// shorten quotes a name, and shortens a long one: a file may have names of any length.
func shorten(name string) string {
	const most = 100
	if len(name) > most {
		return fmt.Sprintf("%.*q…", most, name)
	}
	return fmt.Sprintf("%q", name)
}

// listed lists the first names.
func listed(names []string) string {
	const most = 20
	var out []string
	for i, name := range names {
		if i == most {
			return strings.Join(out, ", ") + fmt.Sprintf(" and %d more", len(names)-most)
		}
		out = append(out, strings.Trim(shorten(name), `"`))
	}
	return strings.Join(out, ", ")
}
