package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// fakeStands makes a fake stand before lines of its cells that are for its rank.
type fakeStands struct {
	mu      sync.Mutex
	stopped func(session.StopReason, session.Place)
	breaks  map[int][]int
	pausing bool
	stepped bool
	leaves  atomic.Int64 // how many milliseconds LeaveDebugger takes
	at      *session.Place
	resume  chan session.Resume
}

// reach stands before a line if it has to. It returns false if the cell was interrupted.
func (s *fakeStands) reach(ctx context.Context, cell session.Cell, line, rank int, text string) bool {
	if who, _, ok := strings.Cut(text, ":"); ok && who != fmt.Sprint(rank) {
		return true
	}
	s.mu.Lock()
	reason := session.StopReason("")
	switch {
	case text == "" || ctx.Err() != nil:
	case slices.Contains(s.breaks[cell.ID], line):
		reason = session.AtBreakpoint
	case s.stepped:
		reason = session.AfterStep
	case s.pausing:
		reason = session.Paused
	}
	if reason == "" {
		s.mu.Unlock()
		return true
	}
	at := session.Place{Cell: cell.ID, Name: cell.Name, Line: line, Column: 1, Source: text}
	resume := make(chan session.Resume, 1)
	s.at, s.resume, s.pausing, s.stepped = &at, resume, false, false
	s.mu.Unlock()
	s.stopped(reason, at)
	how := session.Continue
	select {
	case how = <-resume:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.resume, s.stepped = nil, nil, how != session.Continue
	return ctx.Err() == nil
}

func (s *fakeStands) answer(q session.Query, rank int) (session.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		return session.Answer{}, errors.New("nothing stands")
	}
	if q.Topic == session.TopicFrames {
		return session.Answer{Frames: []session.Frame{{Function: "main.main", Place: *s.at}}}, nil
	}
	return session.Answer{Result: &session.Result{HasValue: true, Value: strings.ReplaceAll(q.Arg, "RANK", fmt.Sprint(rank))}}, nil
}

func (f *fake) OnStop(stopped func(session.StopReason, session.Place)) { f.stands.stopped = stopped }

func (f *fake) Break(lines map[int][]int) {
	f.stands.mu.Lock()
	defer f.stands.mu.Unlock()
	if f.stands.breaks == nil {
		f.stands.breaks = map[int][]int{}
	}
	for cell, list := range lines {
		f.stands.breaks[cell] = list
	}
}

func (f *fake) Resume(how session.Resume) {
	f.stands.mu.Lock()
	defer f.stands.mu.Unlock()
	if f.stands.resume != nil {
		f.stands.resume <- how
		f.stands.resume = nil
	}
}

func (f *fake) Pause() {
	f.stands.mu.Lock()
	defer f.stands.mu.Unlock()
	f.stands.pausing = true
}

func (f *fake) LeaveDebugger() {
	time.Sleep(time.Duration(f.stands.leaves.Load()) * time.Millisecond)
	f.stands.mu.Lock()
	clear(f.stands.breaks)
	f.stands.pausing, f.stands.stepped = false, false
	f.stands.mu.Unlock()
	f.Resume(session.Continue)
}
