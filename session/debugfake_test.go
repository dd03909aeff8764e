package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// fakeStands makes a fake stand before lines of its cells that are for its rank.
type fakeStands struct {
	mu      sync.Mutex
	stopped func(StopReason, Place)
	breaks  map[int][]int
	pausing bool
	stepped bool
	leaves  atomic.Int64 // how many milliseconds LeaveDebugger takes
	at      *Place
	resume  chan Resume
}

// reach stands before a line if it has to. It returns false if the cell was interrupted.
func (s *fakeStands) reach(ctx context.Context, cell Cell, line, rank int, text string) bool {
	if who, _, ok := strings.Cut(text, ":"); ok && who != fmt.Sprint(rank) {
		return true
	}
	s.mu.Lock()
	reason := StopReason("")
	switch {
	case text == "" || ctx.Err() != nil:
	case slices.Contains(s.breaks[cell.ID], line):
		reason = AtBreakpoint
	case s.stepped:
		reason = AfterStep
	case s.pausing:
		reason = Paused
	}
	if reason == "" {
		s.mu.Unlock()
		return true
	}
	at := Place{Cell: cell.ID, Name: cell.Name, Line: line, Column: 1, Source: text}
	resume := make(chan Resume, 1)
	s.at, s.resume, s.pausing, s.stepped = &at, resume, false, false
	s.mu.Unlock()
	s.stopped(reason, at)
	how := Continue
	select {
	case how = <-resume:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.resume, s.stepped = nil, nil, how != Continue
	return ctx.Err() == nil
}

func (s *fakeStands) answer(q Query, rank int) (Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		return Answer{}, errors.New("nothing stands")
	}
	if q.Topic == TopicFrames {
		return Answer{Frames: []Frame{{"main.main", *s.at}}}, nil
	}
	return Answer{Result: &Result{HasValue: true, Value: strings.ReplaceAll(q.Arg, "RANK", fmt.Sprint(rank))}}, nil
}

func (f *fake) OnStop(stopped func(StopReason, Place)) { f.stands.stopped = stopped }

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

func (f *fake) Resume(how Resume) {
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
	f.Resume(Continue)
}
