// Package finding turns the sanitizer's findings, whose places are numbers in a rank's process, into
// those of a session, whose places are lines of the user's text.
package finding

import (
	"fmt"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Of returns the findings of a rank. place sets file, line, column and source of an error whose
// position has that number, and no file if there is none.
func Of(list []symmem.Finding, place func(e *session.Error, at int)) (found []session.Finding) {
	for _, f := range list {
		out := session.Finding{Kind: f.Kind.String(), Memory: f.Memory, Order: f.Order, Repair: f.Repair, Seed: f.Seed}
		for _, a := range f.Accesses {
			access := session.Access{
				Rank: a.Rank, Op: a.Op, Bytes: a.Bytes, Kernel: a.Kernel, File: a.File, Line: a.Line, Column: a.Column, Source: a.Source,
				Block: a.Block, Thread: a.Thread, Threads: a.Threads,
			}
			var call session.Error
			if place(&call, a.Caller); call.File != "" {
				access.At = fmt.Sprintf("%s:%d", call.File, call.Line)
			}
			if a.File == "" && call.File != "" { // the host's, or a stream's
				access.File, access.Line, access.Column, access.Source = call.File, call.Line, call.Column, call.Source
			}
			if access.Source == "" {
				access.Call = call.Source
			}
			out.Accesses = append(out.Accesses, access)
		}
		found = append(found, out)
	}
	return found
}
