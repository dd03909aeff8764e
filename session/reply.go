package session

import (
	"fmt"
	"reflect"
	"time"
)

// end takes the cell off the controller, folds the results of its ranks into a Reply, and decides whether the ranks have to recover.
func (r *run) end() Reply {
	reply := Reply{Cell: r.cell.ID, Elapsed: time.Since(r.started).Seconds()}
	var peers []*Error // of waits for ranks that failed: they come last
	for _, rank := range r.ranks {
		result := r.results[rank]
		if result.HasValue {
			reply.Values = foldValue(reply.Values, rank, result)
		}
		if result.Err != nil {
			result.Err.Cell = r.cell.ID
			if result.Err.Kind == KindPeer {
				peers = foldError(peers, rank, result.Err)
			} else {
				reply.Errors = foldError(reply.Errors, rank, result.Err)
			}
		}
	}
	reply.Errors = append(reply.Errors, peers...)
	different := false
	if len(reply.Errors) == 0 {
		reply.Errors = compareTallies(r.cell.ID, r.ranks, r.tallies)
		different = len(reply.Errors) > 0
	}
	r.before.end(time.Now())
	r.fold.end(time.Now())
	r.fold.redirect(r.c.keepPrinted)
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.c.run = nil
	r.c.dirty = r.c.dirty || different || len(r.aborted) > 0 || diverged(reply.Errors, r.c.size)
	return reply
}

// diverged reports whether errors may have left the ranks at different points of the cell, or one rank alone at odds with its own signals. They
// have not if all ranks of the world failed with the same error and none gave up a wait, or if they failed before anything ran.
func diverged(errs []*Error, size int) bool {
	for _, e := range errs {
		switch e.Kind {
		case KindSyntax, KindType, KindUnsupported:
		case KindTimeout, KindPeer:
			return true
		default:
			if len(e.Ranks) < size {
				return true
			}
		}
	}
	return false
}

// foldValue adds a rank's value to those that are equal in all forms.
func foldValue(values []Value, rank int, r Result) []Value {
	for i := range values {
		if v := values[i]; v.Text == r.Value && reflect.DeepEqual(v.Data, r.Data) && reflect.DeepEqual(v.Metadata, r.Metadata) {
			values[i].Ranks = append(values[i].Ranks, rank)
			return values
		}
	}
	return append(values, Value{[]int{rank}, r.Value, r.Data, r.Metadata})
}

// foldError adds an error to those that are equal but for rank and detail.
func foldError(errs []*Error, rank int, e *Error) []*Error {
	for _, f := range errs {
		a, b := *f, *e
		a.Ranks, b.Ranks, a.Detail, b.Detail = nil, nil, "", ""
		if fmt.Sprint(a) == fmt.Sprint(b) {
			f.Ranks = append(f.Ranks, rank)
			return errs
		}
	}
	e.Ranks = []int{rank}
	return append(errs, e)
}
