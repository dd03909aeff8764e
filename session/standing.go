package session

import "slices"

// Progress is how far a rank has come, by which the session tells ranks that are slow from those that wait in vain: see ProgressReporter.
type Progress struct {
	Moves   uint64 // another number whenever the rank has got on
	Stands  bool   // nothing of it gets on by itself: what is under way waits in an operation that Waits lists
	Inside  int    // how many goroutines are in calls that return only when the device or another rank gets on
	Watched bool   // kernels are watched, which takes them many times as long

	Compiles    string  // the compiler that it waits for, "" if there is none
	CompilesFor float64 // seconds
	CompilesAt  string  // where in the user's text, as in Wait

	Exchanged []Exchanged // with ranks that it reaches by a network
	Waits     []Wait      // what Waits lists, told at once
}

// Exchanged counts numbered messages between a rank and another one. Nothing is under way when what one has sent is what the other has finished.
type Exchanged struct {
	Peer         int
	Sent, Landed uint64
}

// standing is what a rank says of its progress.
type standing struct {
	Moves     uint64      `json:",omitempty"`
	Stands    bool        `json:",omitempty"` // nothing gets on by itself, and no code of cells but what waits in operations can run
	Inside    bool        `json:",omitempty"` // code of the cell is in a call that returns only when the device or another rank gets on
	Watched   bool        `json:",omitempty"`
	Exchanged []Exchanged `json:",omitempty"`
}

// equal reports whether a rank has not got on between a and b.
func (a *standing) equal(b *standing) bool {
	return a.Moves == b.Moves && a.Stands == b.Stands && slices.Equal(a.Exchanged, b.Exchanged)
}

// progress asks the Communicator. known is false if it does not tell.
func (w *worker) progress() (p Progress, known bool) {
	if teller, tells := w.comm.(ProgressReporter); tells {
		return teller.Progress(), true
	}
	return Progress{}, false
}

// standing says what p means for the rank. It does not stand still for certain unless the Evaluator is an ActivityReporter.
func (w *worker) standing(p Progress) *standing {
	w.mu.Lock()
	finishing := w.finishing
	w.mu.Unlock()
	s := &standing{Moves: p.Moves, Inside: p.Inside > 0, Watched: p.Watched, Exchanged: p.Exchanged}
	if teller, tells := w.eval.(ActivityReporter); tells && p.Stands && p.Compiles == "" {
		running, all := teller.Others()
		if finishing { // beside those, the worker itself waits for the device
			running++
		}
		s.Stands = all && running <= p.Inside
	}
	return s
}
