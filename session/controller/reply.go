package controller

import (
	"reflect"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// end removes the run from the controller, folds the results of its ranks into a Reply, and decides
// whether the ranks have to recover.
func (r *run) end() session.Reply {
	reply := session.Reply{Cell: r.cell.ID, Elapsed: time.Since(r.started).Seconds()}
	var values foldedValues
	var findings session.Findings
	var errs, peers foldedErrors // peers: errors of waits for ranks that failed, which come last
	for _, rank := range r.ranks {
		result := r.on[rank].Result
		if result.HasValue {
			values.add(rank, result)
		}
		for _, f := range r.on[rank].findings {
			f.Ranks, f.Cell, f.Name = []int{rank}, r.cell.ID, r.cell.Name
			findings.Add(f)
		}
		switch e := result.Err; {
		case e == nil:
		case e.Kind == session.KindPeer:
			peers.add(rank, e)
		default:
			errs.add(rank, e)
		}
	}
	reply.Values, reply.Errors, reply.Findings = values.list, append(errs.list, peers.list...), findings.List()
	for _, e := range reply.Errors {
		e.Cell = r.cell.ID
	}
	different := false
	if len(reply.Errors) == 0 {
		reply.Errors = r.compareTallies()
		different = len(reply.Errors) > 0
	}
	r.before.End(time.Now())
	r.fold.End(time.Now())
	r.fold.Redirect(r.c.keepPrinted)
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.c.run = nil
	r.noteSanitizing()
	r.c.dirty = r.c.dirty || different || r.hasAborted || diverged(reply.Errors, r.c.size)
	return reply
}

// diverged reports whether errors may have left the ranks at different points of the cell, or a
// single rank with inconsistent signals. That is not so if all ranks of the world failed with the
// same error and none gave up a wait, or if they failed before the cell ran.
func diverged(errs []*session.Error, size int) bool {
	for _, e := range errs {
		switch e.Kind {
		case session.KindSyntax, session.KindType, session.KindUnsupported:
		case session.KindTimeout, session.KindPeer:
			return true
		default:
			if len(e.Ranks) < size {
				return true
			}
		}
	}
	return false
}

// foldedValues are the values of ranks. Values that are equal in all forms are one.
type foldedValues struct {
	list []session.Value
	of   map[string][]int // places in list, by the text
	last *session.Result  // the result that was added last
	at   int              // its place in list: ranks of one host share their result
}

// add adds the value of a rank.
func (f *foldedValues) add(rank int, r *session.Result) {
	if r != f.last {
		f.last, f.at = r, f.place(r)
	}
	f.list[f.at].Ranks = append(f.list[f.at].Ranks, rank)
}

// place returns the index of the value in the list.
func (f *foldedValues) place(r *session.Result) int {
	for _, at := range f.of[r.Value] {
		if v := &f.list[at]; reflect.DeepEqual(v.Data, r.Data) && reflect.DeepEqual(v.Metadata, r.Metadata) {
			return at
		}
	}
	if f.of == nil {
		f.of = map[string][]int{}
	}
	at := len(f.list)
	f.of[r.Value] = append(f.of[r.Value], at)
	f.list = append(f.list, session.Value{Ranks: nil, Text: r.Value, Data: r.Data, Metadata: r.Metadata})
	return at
}

// foldedErrors are the errors of ranks. Errors that differ only in rank and detail are one, with
// the detail of the first.
type foldedErrors struct {
	list []*session.Error
	of   map[errorWords]*session.Error
}

// errorWords are the fields in which folded errors are equal.
type errorWords struct {
	kind                             session.Kind
	op, file, msg, source, hint      string
	cell, peer, line, column, status int
	fatal, exited                    bool
}

// add adds the error of a rank. The list owns the error from now on.
func (f *foldedErrors) add(rank int, e *session.Error) {
	words := errorWords{
		kind: e.Kind, op: e.Op, file: e.File, msg: e.Msg, source: e.Source, hint: e.Hint, cell: e.Cell, peer: e.Peer,
		line: e.Line, column: e.Column, status: e.Status, fatal: e.Fatal, exited: e.Exited,
	}
	if same := f.of[words]; same != nil {
		same.Ranks = append(same.Ranks, rank)
		return
	}
	if f.of == nil {
		f.of = map[errorWords]*session.Error{}
	}
	e.Ranks = []int{rank}
	f.of[words] = e
	f.list = append(f.list, e)
}
