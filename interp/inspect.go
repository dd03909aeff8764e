package interp

import (
	"context"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

// Inspect answers a query without running user code. It may be called while a cell runs; variables are then shown as they are at
// that moment, but not what is in maps. Topics that are not about the interpreter go to Options.Inspect.
func (in *Interp) Inspect(ctx context.Context, q session.Query) (a session.Answer, err error) {
	switch q.Topic {
	case session.TopicVars, session.TopicType, session.TopicDoc, session.TopicComplete:
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
		a.Variables = in.vars()
	case session.TopicType:
		a.Text, err = in.help.TypeOf(q.Arg)
	case session.TopicDoc:
		a.Text, err = in.help.Documentation(q.Arg)
	case session.TopicComplete:
		a.Candidates = in.help.Complete(q.Arg)
	}
	return a, err
}

// maxShown is the length of a value in the list of variables.
const maxShown = 80

// vars lists the session's variables in order of definition.
func (in *Interp) vars() []session.Variable {
	var list []session.Variable
	for _, v := range in.program.Variables() {
		live := in.runtime.Busy()
		text := []rune(strings.NewReplacer("\n", " ", "\t", " ").Replace(in.printed(live, func(p *printer) { p.Value(v.Value, v.Type, 0) })))
		if len(text) > maxShown {
			text = append(text[:maxShown-1], '…')
		}
		list = append(list, session.Variable{Name: v.Name, Type: check.TypeName(v.Type), Size: in.size(v.Value, live), Value: string(text)})
	}
	return list
}
