package rank

import (
	"errors"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// explain converts any error into an error of the session.
func explain(err error, p places) *session.Error {
	if e := convert(err, p); e != nil {
		return e
	}
	return &session.Error{Kind: session.KindSystem, Peer: -1, Msg: err.Error()}
}

// convert converts an error of symmem into an error of the session, with the place of the work that
// failed. It returns nil for other errors. Both use the kinds of errkind.
func convert(err error, p places) *session.Error {
	var e *symmem.Error
	if !errors.As(err, &e) {
		return nil
	}
	msg := e.Msg
	if e.Op != "" && e.Line == 0 {
		msg = e.Op + ": " + msg
	}
	if launched := line(p, e.Caller); e.Line > 0 && launched != "" {
		msg += ", launched at " + launched
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
