package interp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// Inspect answers a query without running user code. It may be called while a cell runs; it then
// shows variables as they are at that moment, without the contents of maps. Topics that do not
// concern the interpreter go to Options.Inspect.
func (in *Interp) Inspect(ctx context.Context, q session.Query) (a session.Answer, err error) {
	switch q.Topic {
	case session.TopicVars, session.TopicType, session.TopicDoc, session.TopicComplete, session.TopicLines:
	case session.TopicFrames, session.TopicLocals, session.TopicEvaluate:
		return in.debug(q)
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
		if q.Snippet == "" {
			a.Variables = in.described(in.variablesCalled(q.Arg), cmp.Or(q.Columns, maxShown))
		}
		if q.Source {
			a.Source = in.help.Source(q.Arg, q.Snippet)
		}
	case session.TopicLines:
		a.Lines = check.StatementLines(q.Arg)
	case session.TopicComplete:
		a.Candidates = in.help.Complete(q.Arg)
	}
	return a, err
}

// state adds the interpreter's part to the state of the device.
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

// varsWithin lists the session's variables in order of definition. A value's lines have at most most
// characters; only a tensor of two dimensions has several.
func (in *Interp) varsWithin(most int) []session.Variable {
	return in.described(in.program.Variables(), most)
}

// variablesCalled returns the variable of the session that has a name, if there is one.
func (in *Interp) variablesCalled(name string) []lower.Variable {
	name = strings.TrimSpace(name)
	return slices.DeleteFunc(in.program.Variables(), func(v lower.Variable) bool { return v.Name != name })
}

// described describes variables: see varsWithin.
func (in *Interp) described(variables []lower.Variable, most int) []session.Variable {
	var list []session.Variable
	for _, v := range variables {
		live := in.runtime.Busy()
		text := in.printed(valueTypes{in: in, live: live, quiet: true}, func(p *printer) { p.Value(v.Value, v.Type, 1) }).Text
		var lines []string
		info := tensorInfo(v.Value)
		if info != nil {
			lines = corners(strings.Split(text, "\n"))
		} else {
			lines = []string{strings.NewReplacer("\n", " ", "\t", " ").Replace(text)}
		}
		for i, line := range lines {
			if runes := []rune(line); len(runes) > most {
				lines[i] = string(runes[:most-1]) + "…"
			}
		}
		list = append(list, session.Variable{Name: v.Name, Type: check.TypeName(v.Type), Size: in.size(v.Value, live),
			Value: strings.Join(lines, "\n"), Tensor: info})
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

// cornered is the number of a tensor's rows and columns that the list of variables has at each end.
const cornered = 2

// corners makes the text of a tensor of two dimensions, which follows its first line as a table, one
// of its corners.
func corners(lines []string) []string {
	var table [][]string
	width := make([]int, 2*cornered+1)
	for _, line := range ends(lines[1:]) {
		row := ends(strings.Fields(line))
		for i, element := range row {
			width[i] = max(width[i], utf8.RuneCountInString(element))
		}
		table = append(table, row)
	}
	lines = lines[:1]
	for _, row := range table {
		line := ""
		for i, element := range row {
			line += " " + strings.Repeat(" ", width[i]-utf8.RuneCountInString(element)) + element
		}
		lines = append(lines, line)
	}
	return lines
}

// ends are all of a few texts, or of more the first and the last ones, with "…" between them.
func ends(texts []string) []string {
	if len(texts) <= 2*cornered+1 {
		return texts
	}
	return slices.Concat(texts[:cornered], []string{"…"}, texts[len(texts)-cornered:])
}
