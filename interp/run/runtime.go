package run

import (
	"errors"
	"go/token"
	"io"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/unexported"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/executions"
	"github.com/symmrepl/symmrepl/interp/symbols"
)

// Host is the session that code runs for. Its methods may be called by any goroutine of a cell.
type Host interface {
	executions.Host
	// Bound is called when yaegi has created a variable of the session; pointer points to it.
	Bound(name string, pointer reflect.Value)
	// Showing is called when the statements of a cell have ended and its value is about to be shown.
	Showing()
}

// Runtime runs the code of cells: it has the functions that lowered code calls.
type Runtime struct {
	*executions.Executions
	host Host
}

// New returns a runtime whose code may use the packages of package symbols and others; others takes
// precedence. Input and memory are those of executions.New.
func New(host Host, input io.Reader, memory uint64, others contract.Exports) (*Runtime, error) {
	if err := errors.Join(checkLogger(), unexported.CheckTrace()); err != nil {
		return nil, err
	}
	es, err := executions.New(host, input, memory)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{es, host}
	es.Yaegi().Provide(symbols.Tables(rt.overrides(), es.Stdin(), rt.exports(), others))
	return rt, nil
}

// Files returns the set of files of the positions in interpreted code.
func (rt *Runtime) Files() *token.FileSet { return rt.Yaegi().FileSet() }

// bind records where yaegi keeps a variable.
func (rt *Runtime) bind(name string, pointer any) {
	switch name {
	case contract.MarkVar:
		rt.Stacks.Mark = pointer.(*int)
		return
	case contract.CallVar:
		rt.Stacks.CallMark = pointer.(*int)
		return
	case contract.PanickingVar:
		rt.Stacks.Count(pointer.(*int))
		return
	case contract.BoxVar:
		rt.Yaegi().SetBoxes(reflect.TypeOf(pointer).Elem())
		return
	}
	rt.host.Bound(name, reflect.ValueOf(pointer))
}

// ShareMarks moves the variables of Position and CallPosition from yaegi's heap to mark and call.
// It is called before any cell runs.
func (rt *Runtime) ShareMarks(mark, call *int) error {
	for _, m := range []struct {
		of *(*int)
		to *int
	}{{&rt.Stacks.Mark, mark}, {&rt.Stacks.CallMark, call}} {
		*m.to = **m.of
		if !rt.Yaegi().Move(*m.of, m.to) {
			return errors.New("interp: the variables that hold positions are not where they are bound")
		}
		*m.of = m.to
	}
	return nil
}
