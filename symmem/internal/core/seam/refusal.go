package seam

import (
	"fmt"

	"github.com/symmrepl/symmrepl/internal/errkind"
)

// Refusal is an error of which core makes the error of a call, with the operation and the rank.
type Refusal struct {
	Kind errkind.Kind
	Peer int    // the world rank that it concerns, or -1
	Arg  string // the argument that is refused, if it is one
	Msg  string
	Hint string // what to do next
}

// Misuse refuses an argument of a call.
func Misuse(arg, hint, format string, args ...any) *Refusal {
	return &Refusal{Kind: errkind.Misuse, Peer: -1, Arg: arg, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

func (r *Refusal) Error() string {
	if r.Hint == "" {
		return r.Msg
	}
	return r.Msg + " (" + r.Hint + ")"
}
