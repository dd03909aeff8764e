package session

import "slices"

// Progress describes how far a rank has come. From it the session distinguishes slow ranks from
// ranks that wait in vain: see ProgressReporter.
type Progress struct {
	Moves   uint64 // changes whenever the rank has made progress
	Stands  bool   // the rank makes no progress by itself: all pending work waits in operations that Waits lists
	Inside  int    // number of goroutines in calls that return only when the device or another rank makes progress
	Watched bool   // the sanitizer watches kernels, so they take many times as long

	Compiles    string  // the compiler that the rank waits for, "" if there is none
	CompilesFor float64 // seconds
	CompilesAt  string  // position in the user's text, as in Wait

	Exchanged []Exchanged // messages exchanged with ranks on other hosts
	Waits     []Wait      // the result of Waits at the same moment
}

// Exchanged counts numbered messages between a rank and another rank. No message is under way if
// the count of sent messages on one side equals the count of finished messages on the other.
type Exchanged struct {
	Peer         int
	Sent, Landed uint64
}

// standing is a rank's report of its progress.
type standing struct {
	Moves uint64 `json:",omitempty"`
	// the rank makes no progress by itself, and only code that waits in operations remains of its
	// cells
	Stands bool `json:",omitempty"`
	// code of the cell is in a call that returns only when the device or another rank makes progress
	Inside    bool        `json:",omitempty"`
	Watched   bool        `json:",omitempty"`
	Exchanged []Exchanged `json:",omitempty"`
}

// equal reports whether a rank has made no progress between a and b.
func (a *standing) equal(b *standing) bool {
	return a.Moves == b.Moves && a.Stands == b.Stands && slices.Equal(a.Exchanged, b.Exchanged)
}

// progress asks the Communicator. known is false if the Communicator is no ProgressReporter.
func (w *worker) progress() (p Progress, known bool) {
	if teller, tells := w.comm.(ProgressReporter); tells {
		return teller.Progress(), true
	}
	return Progress{}, false
}

// standing makes the rank's report from p. The rank never stands still unless the Evaluator is an
// ActivityReporter.
func (w *worker) standing(p Progress) *standing {
	w.mu.Lock()
	finishing := w.finishing
	w.mu.Unlock()
	s := &standing{Moves: p.Moves, Inside: p.Inside > 0, Watched: p.Watched, Exchanged: p.Exchanged}
	if teller, tells := w.eval.(ActivityReporter); tells && p.Stands && p.Compiles == "" {
		running, all := teller.Others()
		if finishing { // the worker itself waits for the device too
			running++
		}
		s.Stands = all && running <= p.Inside
	}
	return s
}
