package trees

import (
	"strconv"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// entryOf returns the parts of the call of helper that is among the first two statements of a
// function, or nil if there is none.
func entryOf(function *yaegi.Node, helper contract.Helper) []*yaegi.Node {
	statements := function.Body().Children()
	for _, statement := range statements[:min(2, len(statements))] {
		if list := statement.Children(); len(list) == 1 {
			if parts := list[0].Children(); len(parts) > 0 && isHelper(parts[0], helper) {
				return parts
			}
		}
	}
	return nil
}

// isHelper reports whether the function operand of a call is the given helper.
func isHelper(fun *yaegi.Node, helper contract.Helper) bool {
	parts := fun.Children()
	return len(parts) == 2 && parts[1].Name() == string(helper)
}

// callPosition returns the position of a call: the position of its function's name, or the end of
// its function literal.
func callPosition(call *yaegi.Node) int {
	function := call.Children()[0]
	if function.IsLiteral() {
		if entry := entryOf(function, contract.Enter); entry != nil {
			end, _ := strconv.Atoi(entry[2].Name())
			return end
		}
		return call.Position()
	}
	at := call.Position()
	if parts := function.Children(); len(parts) == 2 {
		at = max(at, parts[1].Position())
	}
	return at
}
