package lower

import (
	"go/types"
	"strconv"
)

// function is one function body during lowering.
type function struct {
	outer    *function
	sig      *types.Signature // nil for the cell's own statements
	deferred string           // the variable that holds its deferred calls; "" when there are none
	unmarked bool             // a position stored before a loop serves the whole loop
	gotos    map[string]bool  // labels that are targets of goto
	loops    int              // how many loops are around the statement that is being lowered
	name     string           // its name in package runtime
	literal  bool             // it is a function literal
	literals int              // number of function literals in it so far
	ranges   int              // number of loops over functions in it so far
	results  []string         // names of its results, if a deferred call may read or change them
	locals   []*types.Var     // variables that it declares, the last first, if it can be debugged
}

func (f *function) top() bool { return f.sig == nil }

// declared reports whether f is a function or method that the cell declares, or is inside one.
func (f *function) declared() bool {
	for ; f != nil; f = f.outer {
		if f.top() {
			return false
		}
	}
	return true
}

// repeats reports whether the current statement may run several times in one call.
func (f *function) repeats() bool { return f.loops > 0 || len(f.gotos) > 0 }

// nameLiteral returns the name of a function literal in f.
func (f *function) nameLiteral() string {
	f.literals++
	if f.literal {
		return f.name + "." + strconv.Itoa(f.literals)
	}
	return f.name + ".func" + strconv.Itoa(f.literals)
}

// nameRange returns the name of the body of a range over a function in f.
func (f *function) nameRange() string {
	f.ranges++
	return f.name + "-range" + strconv.Itoa(f.ranges)
}
