package worker

import (
	"context"
	"errors"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// fabric makes symmem what a session drives.
type fabric struct{ runtime *symmem.Runtime }

func (f fabric) Abort(why string)   { f.runtime.Abort(why) }
func (f fabric) Close() error       { return f.runtime.Close() }
func (f fabric) DeviceName() string { return f.runtime.DeviceName() }

func (f fabric) Waits() []session.Wait {
	var waits []session.Wait
	for _, w := range f.runtime.Waits() {
		waits = append(waits, session.Wait{
			Op: w.Op, Ordinal: w.Ordinal, Group: w.Group, Peers: w.Peers, For: w.For, Since: w.Since.Seconds(),
		})
	}
	return waits
}

func (f fabric) Tallies() []session.Tally {
	var tallies []session.Tally
	for _, t := range f.runtime.Tallies() {
		tallies = append(tallies, session.Tally(t))
	}
	return tallies
}

func (f fabric) Finish(ctx context.Context) *session.Error {
	if err := f.runtime.Finish(ctx); err != nil {
		return explain(err)
	}
	return nil
}

func (f fabric) Recover(ctx context.Context, replaced []int) ([]string, error) {
	return f.runtime.Recover(ctx, replaced)
}

// explain turns any error into the session's.
func explain(err error) *session.Error {
	if e := convert(err); e != nil {
		return e
	}
	return &session.Error{Kind: session.KindSystem, Peer: -1, Msg: err.Error()}
}

// convert turns an error of symmem into the session's. It returns nil for any other.
func convert(err error) *session.Error {
	var e *symmem.Error
	if !errors.As(err, &e) {
		return nil
	}
	msg := e.Msg
	if e.Op != "" && e.Line == 0 {
		msg = e.Op + ": " + msg
	}
	return &session.Error{
		Kind: session.Kind(e.Kind), Op: e.Op, Peer: e.Peer, Msg: msg, Hint: e.Hint,
		File: e.File, Line: e.Line, Column: e.Column, Source: e.Source, Detail: e.Detail, Fatal: e.Lost,
	}
}
