package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// communicator adapts a symmem.Runtime to session.Communicator.
type communicator struct {
	runtime *symmem.Runtime
	places  places
}

// places maps the positions by which symmem reports work to the user's text. *interp.Interp implements it.
type places interface {
	Place(e *session.Error, at int)
}

func (c communicator) Abort(why string)   { c.runtime.Abort(why) }
func (c communicator) Close() error       { return c.runtime.Close() }
func (c communicator) DeviceName() string { return c.runtime.DeviceName() }

func (c communicator) Waits() []session.Wait {
	var waits []session.Wait
	for _, w := range c.runtime.Waits() {
		at := line(c.places, w.Caller)
		if replayed := line(c.places, w.Replayed); replayed != "" {
			at += " (last replayed at " + replayed + ")"
		}
		waits = append(waits, session.Wait{
			Op: w.Op, Ordinal: w.Ordinal, Group: w.Group, Peers: w.Peers, For: w.For, Since: w.Since.Seconds(), At: at,
		})
	}
	return waits
}

func (c communicator) Tallies() []session.Tally {
	var tallies []session.Tally
	for _, t := range c.runtime.Tallies() {
		tallies = append(tallies, session.Tally{
			Group: t.Group, Key: t.Key, Ranks: t.Ranks, Calls: t.Calls, Digest: t.Digest, Last: t.Last, At: line(c.places, t.Caller),
		})
	}
	return tallies
}

func (c communicator) Finish(ctx context.Context) *session.Error {
	if err := c.runtime.Finish(ctx); err != nil {
		return explain(err, c.places)
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

func (c communicator) Recover(ctx context.Context, replaced []int) ([]string, error) {
	return c.runtime.Recover(ctx, replaced)
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
