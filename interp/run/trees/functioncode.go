package trees

import (
	"strconv"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
)

// keeping returns the step of a function literal that begins with Code: it makes the function value
// by the step plain, and records f for it.
func (t *Trees) keeping(node *yaegi.Node, f stacks.FunctionCode, plain yaegi.Step) yaegi.Step {
	result, ok := node.Result()
	if !ok {
		return plain
	}
	return func(frame *yaegi.Frame) yaegi.Step {
		next := plain(frame)
		if function, ok := result.In(frame).Function(); ok {
			t.stacks.Keep(function, f)
		}
		return next
	}
}

// codeOf returns the function behind a function literal, if it is known.
func codeOf(literal *yaegi.Node) (f stacks.FunctionCode, ok bool) {
	parts := entryOf(literal, contract.Code)
	if parts == nil {
		return stacks.FunctionCode{}, false
	}
	name, err1 := strconv.Unquote(parts[1].Name())
	at, err2 := strconv.Atoi(parts[2].Name())
	return stacks.FunctionCode{Name: name, At: at}, err1 == nil && err2 == nil
}
