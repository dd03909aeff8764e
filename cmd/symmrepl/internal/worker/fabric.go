package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// fabric makes symmem what a session drives.
type fabric struct {
	runtime *symmem.Runtime
	places  places
}

// places knows where cells issued the work that symmem tells of by a number of their position. *interp.Interp does.
type places interface {
	Place(e *session.Error, at int)
}

func (f fabric) Abort(why string)   { f.runtime.Abort(why) }
func (f fabric) Close() error       { return f.runtime.Close() }
func (f fabric) DeviceName() string { return f.runtime.DeviceName() }

func (f fabric) Waits() []session.Wait {
	var waits []session.Wait
	for _, w := range f.runtime.Waits() {
		at := line(f.places, w.Caller)
		if replayed := line(f.places, w.Replayed); replayed != "" {
			at += " (last replayed at " + replayed + ")"
		}
		waits = append(waits, session.Wait{
			Op: w.Op, Ordinal: w.Ordinal, Group: w.Group, Peers: w.Peers, For: w.For, Since: w.Since.Seconds(), At: at,
		})
	}
	return waits
}

func (f fabric) Tallies() []session.Tally {
	var tallies []session.Tally
	for _, t := range f.runtime.Tallies() {
		tallies = append(tallies, session.Tally{
			Group: t.Group, Key: t.Key, Ranks: t.Ranks, Calls: t.Calls, Digest: t.Digest, Last: t.Last, At: line(f.places, t.Caller),
		})
	}
	return tallies
}

func (f fabric) Finish(ctx context.Context) *session.Error {
	if err := f.runtime.Finish(ctx); err != nil {
		return explain(err, f.places)
	}
	return nil
}

// line is the line of the user's text that a position is on: "cell[3]:7", "" if it is not known.
func line(p places, at int) string {
	var e session.Error
	if p.Place(&e, at); e.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

func (f fabric) Recover(ctx context.Context, replaced []int) ([]string, error) {
	return f.runtime.Recover(ctx, replaced)
}

// explain turns any error into the session's.
func explain(err error, p places) *session.Error {
	if e := convert(err, p); e != nil {
		return e
	}
	return &session.Error{Kind: session.KindSystem, Peer: -1, Msg: err.Error()}
}

// convert turns an error of symmem into the session's, with the place of the work that failed. It returns nil for any other.
func convert(err error, p places) *session.Error {
	var e *symmem.Error
	if !errors.As(err, &e) {
		return nil
	}
	msg := e.Msg
	if e.Op != "" && e.Line == 0 {
		msg = e.Op + ": " + msg
	}
	if replayed := line(p, e.Replayed); replayed != "" {
		msg += ", last replayed at " + replayed
	}
	out := &session.Error{
		Kind: session.Kind(e.Kind), Op: e.Op, Peer: e.Peer, Msg: msg, Hint: e.Hint,
		File: e.File, Line: e.Line, Column: e.Column, Source: e.Source, Detail: e.Detail, Fatal: e.Lost,
	}
	p.Place(out, e.Caller)
	return out
}
