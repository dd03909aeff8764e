package interp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Inspect answers a query without running user code. It may be called while a cell runs; it then
// shows variables as they are at that moment, without the contents of maps. Topics that do not
// concern the interpreter go to Options.Inspect.
func (in *Interp) Inspect(ctx context.Context, q session.Query) (a session.Answer, err error) {
	switch q.Topic {
	case session.TopicVars, session.TopicType, session.TopicDoc, session.TopicComplete:
	case session.TopicState:
		return in.state(ctx, q)
	default:
		if in.options.Inspect == nil {
			return a, fmt.Errorf("there is no topic %q", q.Topic)
		}
		return in.options.Inspect(ctx, q)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch q.Topic {
	case session.TopicVars:
		a.Variables = in.varsWithin(cmp.Or(q.Columns, maxShown))
	case session.TopicType:
		a.Text, err = in.help.TypeOf(q.Arg)
	case session.TopicDoc:
		a.Text, err = in.help.Documentation(q.Arg, q.Snippet)
	case session.TopicComplete:
		a.Candidates = in.help.Complete(q.Arg)
	}
	return a, err
}

// state adds to the state of the device what the interpreter knows.
func (in *Interp) state(ctx context.Context, q session.Query) (a session.Answer, err error) {
	if in.options.Inspect != nil {
		if a, err = in.options.Inspect(ctx, q); err != nil {
			return a, err
		}
	}
	if a.State == nil {
		a.State = &session.RankState{}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	a.State.Variables = in.varsWithin(cmp.Or(q.Columns, maxShown))
	return a, err
}

// maxShown is the maximum length of a value in the list of variables if the width of the screen is
// not known.
const maxShown = 80

// vars is varsWithin for a screen of unknown width.
func (in *Interp) vars() []session.Variable { return in.varsWithin(maxShown) }

// varsWithin lists the session's variables in order of definition. A value has at most most
// characters.
func (in *Interp) varsWithin(most int) []session.Variable {
	var list []session.Variable
	for _, v := range in.program.Variables() {
		live := in.runtime.Busy()
		text := []rune(strings.NewReplacer("\n", " ", "\t", " ").Replace(in.printed(live, func(p *printer) { p.Value(v.Value, v.Type, 1) }).Text))
		if len(text) > most {
			text = append(text[:most-1], '…')
		}
		list = append(list, session.Variable{Name: v.Name, Type: check.TypeName(v.Type), Size: in.size(v.Value, live), Value: string(text), Tensor: tensorInfo(v.Value)})
	}
	return list
}

// tensorInfo describes a variable that is a tensor; nil if it is none.
func tensorInfo(v reflect.Value) *session.TensorInfo {
	if !v.IsValid() || !v.CanInterface() {
		return nil
	}
	t, ok := v.Interface().(*symmem.Tensor)
	if !ok || t == nil {
		return nil
	}
	info := &session.TensorInfo{}
	if symmem.Maybe(func() { *info = session.TensorInfo{DType: t.DType().String(), Shape: t.Shape(), Memory: t.Memory()} }) != nil {
		return nil // it belongs to no world, as new(symm.Tensor)
	}
	return info
}
