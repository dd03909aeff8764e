package session

import "fmt"

// Activity is what a rank does with a cell while it waits in no operation of the Communicator. An Evaluator whose method Doing() Activity may
// be called at any time while Eval runs tells it, so that the session can say why nothing happens.
type Activity struct {
	What    string // "waits in time.Sleep", "is in sort.Ints"; "" for the code of the cell itself
	At      string // where in the user's text: the statement that runs, or ran last when What is ""
	Blocked bool   // it waits for something, and takes no processor time
	Input   bool   `json:",omitempty"` // what it waits for is a line that the user types
	Kernel  string `json:",omitempty"` // the kernel of the cell's that was launched last, and where: "spin, launched at cell[3]:7"
}

// String describes the activity in words without times.
func (a Activity) String() string {
	s := a.What
	switch {
	case s == "" && a.At != "":
		s = "runs, at or after " + a.At
	case s == "":
		s = "runs"
	case a.At != "":
		s += " at " + a.At
	}
	if a.Kernel != "" {
		s += "; its latest kernel is " + a.Kernel
	}
	return s
}

// moving replaces the description in the decision whether a table says something new: the place of code that runs changes all the time.
func (a Activity) moving() string {
	if a.Blocked {
		return a.String()
	}
	return "runs " + a.Kernel
}

// doing says what the worker does with the cell that it runs.
func (w *worker) doing() *Activity {
	w.mu.Lock()
	finishing := w.finishing
	w.mu.Unlock()
	var a Activity
	switch teller, tells := w.eval.(interface{ Doing() Activity }); {
	case w.stdin.waits():
		a = Activity{What: "waits for a line of standard input", Blocked: true, Input: true}
	case finishing:
		a = Activity{What: "waits for its device to finish", Blocked: true}
	case tells:
		a = teller.Doing()
	}
	if l, ok := w.comm.(interface{ LatestKernel() (name, at string) }); ok {
		if name, at := l.LatestKernel(); name != "" {
			a.Kernel = fmt.Sprintf("%s, launched at %s", name, at)
		}
	}
	if a == (Activity{}) {
		return nil
	}
	return &a
}
