package lower

import (
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// marker knows which function is being lowered. It puts into it what tells, while it runs, where the program is: positions of what may panic, and the functions of
// a stack; and what makes its deferred calls.
type marker struct {
	declarer
	fn          *function             // the innermost function that is being lowered
	silent      bool                  // what is lowered is of a package: it has no positions
	inits       int                   // how many functions init have been lowered
	instancing  *instance             // whose declaration is lowered; nil if it is of none
	counters    map[types.Object]bool // variables that are never negative
	inFunctions map[*types.TypeName]run.InFunction
}

// function is one function body during lowering.
type function struct {
	outer    *function
	sig      *types.Signature // nil for the cell's own statements
	deferred string           // the variable that holds its deferred calls; "" when there are none
	unmarked bool             // a mark outside of a loop serves the loop
	gotos    map[string]bool  // labels that goto jumps to
	loops    int              // how many loops are around the statement that is being lowered
	name     string           // as package runtime has it
	literal  bool             // it is a function literal
	literals int              // how many function literals it has so far
	ranges   int              // and how many loops over functions
	results  []string         // names of its results, when a deferred call may read or change them
}

func (f *function) top() bool { return f.sig == nil }

// declared reports whether it is a function or method that the cell declares, or in one.
func (f *function) declared() bool {
	for ; f != nil; f = f.outer {
		if f.top() {
			return false
		}
	}
	return true
}

// repeats reports whether the statement that is being lowered may run several times in one call.
func (f *function) repeats() bool { return f.loops > 0 || len(f.gotos) > 0 }
