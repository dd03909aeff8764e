// Package consoletest provides a session that answers as a test says, and a console on it that
// prints to a buffer.
package consoletest

import (
	"context"
	"errors"

	"github.com/symmrepl/symmrepl/session"
)

// Session records its cells and answers by its functions.
type Session struct {
	Cells      []session.Cell // cells that were evaluated
	Infos      []session.RankInfo
	Restarted  [][]int
	Replayed   []bool
	Runs       string // title of the cell that Interrupt interrupts
	Interrupts int
	Watches    session.Sanitizing // as the last cell with Sanitize asked

	OnEval    func(session.Cell) session.Reply
	OnInspect func(ranks []int, q session.Query) []session.Answer
	Debugger  session.Debugger         // the result of Debug
	Event     func(session.DebugEvent) // the argument of the last call of Debug

	found session.Findings
}

// Eval implements session.Session.
func (s *Session) Eval(_ context.Context, cell session.Cell) session.Reply {
	if !cell.Silent || cell.ID == 0 {
		cell.ID = len(s.Cells) + 1
	}
	s.Cells = append(s.Cells, cell)
	reply := session.Reply{Cell: cell.ID}
	if s.OnEval != nil {
		reply = s.OnEval(cell)
	}
	if cell.Sanitize != nil && len(reply.Errors) == 0 {
		s.Watches = *cell.Sanitize
	}
	for _, f := range reply.Findings {
		s.found.Add(f)
	}
	return reply
}

// Inspect implements session.Session.
func (s *Session) Inspect(_ context.Context, ranks []int, q session.Query) ([]session.Answer, error) {
	if s.OnInspect == nil {
		return nil, nil
	}
	return s.OnInspect(ranks, q), nil
}

// Ranks implements session.Session.
func (s *Session) Ranks(context.Context) ([]session.RankInfo, error) { return s.Infos, nil }

// Restart implements session.Session.
func (s *Session) Restart(_ context.Context, ranks []int, replay bool, _ func(session.Output)) error {
	s.Restarted = append(s.Restarted, ranks)
	s.Replayed = append(s.Replayed, replay)
	return nil
}

// History implements session.Session.
func (s *Session) History(context.Context) ([]session.Cell, error) { return s.Cells, nil }

// Sanitizer implements session.Session.
func (s *Session) Sanitizer(context.Context) (session.Sanitizer, error) {
	return session.Sanitizer{Sanitizing: s.Watches, Findings: s.found.List()}, nil
}

// Interrupt implements session.Session: it says that the cell named by Runs is interrupted.
func (s *Session) Interrupt(context.Context) (string, error) {
	s.Interrupts++
	return s.Runs, nil
}

// Debug implements session.Session.
func (s *Session) Debug(_ context.Context, event func(session.DebugEvent)) (session.Debugger, error) {
	if s.Debugger == nil {
		return nil, errors.New("this session cannot be debugged")
	}
	s.Event = event
	return s.Debugger, nil
}

// Close implements session.Session.
func (s *Session) Close() error { return nil }
