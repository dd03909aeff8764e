package interp

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/interp/help"
	"github.com/symmrepl/symmrepl/interp/lower"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/standing"
	"github.com/symmrepl/symmrepl/session"
)

// textPoint is a point in the text of a cell.
type textPoint struct {
	*contract.Point
	line, column int // as errors count them
}

// notePoints keeps the points of a cell with the texts that they are in, and sets breakpoints on
// them. A point of an instance is in the text of the generic declaration. in.mu is held.
func (in *Interp) notePoints(c *compiled) {
	var changed []*keptText
	for _, p := range c.lowered.Points {
		text := in.textAt(c, p.Pos)
		if text == nil {
			continue
		}
		var at session.Error
		text.Place(&at, p.Pos)
		text.points = append(text.points, textPoint{p, at.Line, at.Column})
		if !slices.Contains(changed, text) {
			changed = append(changed, text)
		}
	}
	if changed == nil {
		return // no point, and so no breakpoint, is new
	}
	for _, text := range changed {
		text.setBreaks(in.breaks[text.Cell()])
	}
	in.arm()
}

// textAt returns the text that contains a position of code of c, nil if it is not known.
func (in *Interp) textAt(c *compiled, at token.Pos) *keptText {
	if text := in.texts[c.TextOf(at)]; text != nil {
		if _, _, ok := text.Position(at); ok {
			return text
		}
	}
	for _, text := range in.texts {
		if _, _, ok := text.Position(at); ok {
			return text
		}
	}
	return nil
}

// forgetPoints forgets the points of a text that is dropped. in.mu is held.
func (in *Interp) forgetPoints(text *keptText) {
	if text.points == nil {
		return
	}
	for _, p := range text.points {
		in.runtime.Stops.DropPoints([]*contract.Point{p.Point})
	}
	text.points = nil
	in.arm()
}

// setBreaks sets breakpoints on lines: on the first statements that begin on them, or on the next
// line with one.
func (t *keptText) setBreaks(lines []int) {
	columns := map[int]int{} // the first column with a statement, by lines that are to have breakpoints
	for _, line := range lines {
		best := 0
		for _, p := range t.points {
			if p.line >= line && (best == 0 || p.line < best) {
				best = p.line
			}
		}
		for _, p := range t.points {
			if p.line == best && (columns[best] == 0 || p.column < columns[best]) {
				columns[best] = p.column
			}
		}
	}
	for _, p := range t.points {
		p.Break(columns[p.line] == p.column)
	}
}

// arm tells the runtime whether any point has a breakpoint. in.mu is held.
func (in *Interp) arm() {
	for _, text := range in.texts {
		if slices.ContainsFunc(text.points, func(p textPoint) bool { return p.Breaks() }) {
			in.runtime.Stops.Arm(true)
			return
		}
	}
	in.runtime.Stops.Arm(false)
}

// OnStop implements session.DebuggedEvaluator.
func (in *Interp) OnStop(stopped func(session.StopReason, session.Place)) {
	in.runtime.Stops.OnStop(func(s *standing.Goroutine) {
		in.mu.Lock()
		place := in.placeOf(s.Frames[0].Pos)
		in.mu.Unlock()
		reason := map[standing.Reason]session.StopReason{standing.AtBreakpoint: session.AtBreakpoint, standing.AfterStep: session.AfterStep}[s.Reason]
		stopped(cmp.Or(reason, session.Paused), place)
	})
}

// placeOf returns the place of a position. in.mu is held.
func (in *Interp) placeOf(at token.Pos) (p session.Place) {
	for _, text := range in.texts {
		var e session.Error
		if text.Place(&e, at) {
			return session.Place{Cell: text.Cell(), Name: e.File, Line: e.Line, Column: e.Column, Source: e.Source}
		}
	}
	return p
}

// Break implements session.DebuggedEvaluator.
func (in *Interp) Break(lines map[int][]int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	maps.Copy(in.breaks, lines)
	for _, text := range in.texts {
		if list, changed := lines[text.Cell()]; changed {
			text.setBreaks(list)
		}
	}
	maps.DeleteFunc(in.breaks, func(_ int, list []int) bool { return len(list) == 0 })
	in.arm()
}

// Resume implements session.DebuggedEvaluator.
func (in *Interp) Resume(how session.Resume) {
	in.runtime.Stops.Resume(map[session.Resume]standing.Way{session.StepOver: standing.StepOver, session.StepIn: standing.StepIn,
		session.StepOut: standing.StepOut}[how])
}

// Pause implements session.DebuggedEvaluator.
func (in *Interp) Pause() { in.runtime.Stops.Pause() }

// LeaveDebugger implements session.DebuggedEvaluator.
func (in *Interp) LeaveDebugger() {
	in.mu.Lock()
	clear(in.breaks)
	for _, text := range in.texts {
		text.setBreaks(nil)
	}
	in.arm()
	in.mu.Unlock()
	in.runtime.Stops.ResumeFreely()
}

// debug answers a query about the goroutine that stands.
func (in *Interp) debug(q session.Query) (a session.Answer, err error) {
	s := in.runtime.Stops.Standing()
	if s == nil {
		return a, errors.New("no code of the rank stands at a breakpoint")
	}
	if q.Topic == session.TopicFrames {
		in.mu.Lock()
		defer in.mu.Unlock()
		for _, f := range s.Frames {
			a.Frames = append(a.Frames, session.Frame{Function: contract.PlainNames(f.Function), Place: in.placeOf(f.Pos)})
		}
		return a, nil
	}
	if q.Frame < 0 || q.Frame >= len(s.Frames) {
		return a, fmt.Errorf("there is no frame %d: the rank is in %d", q.Frame, len(s.Frames))
	}
	frame := s.Frames[q.Frame]
	if q.Topic == session.TopicLocals {
		in.mu.Lock()
		defer in.mu.Unlock()
		most := cmp.Or(q.Columns, maxShown)
		var locals []lower.Variable
		for _, v := range frame.Variables {
			locals = append(locals, lower.Variable{Name: v.Name, Type: v.Type, Value: v.Value})
		}
		a.Locals, a.Variables = in.described(locals, most), in.varsWithin(most)
		return a, nil
	}
	if text, ok := in.lookedAt(frame, q); ok {
		a.Result = &session.Result{Value: text, HasValue: true}
		return a, nil
	}
	r := in.evaluateIn(frame, q)
	if r.Err != nil {
		return a, r.Err
	}
	a.Result = &r
	return a, nil
}

// lookedAt returns the value of a query that is the name of a variable whose value might describe itself
// by code of cells. Editors ask for names below the pointer, and looking runs no code. It returns false
// for other queries.
func (in *Interp) lookedAt(frame standing.Frame, q session.Query) (text string, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	variables := in.variablesCalled(q.Arg)
	for _, v := range frame.Variables {
		if v.Name == strings.TrimSpace(q.Arg) {
			variables = []lower.Variable{{Name: v.Name, Type: v.Type, Value: v.Value}}
		}
	}
	if len(variables) != 1 {
		return "", false
	}
	v := variables[0]
	of := v.Type
	if p, isPointer := types.Unalias(of).(*types.Pointer); isPointer {
		of = p.Elem()
	}
	if !types.IsInterface(of) && !in.isCellType(of) {
		return "", false
	}
	printed := in.printed(valueTypes{in: in, quiet: true}, func(p *printer) { p.Value(v.Value, v.Type, 0) })
	return printed.Break(cmp.Or(q.Columns, values.Width)), true
}

// evaluateIn evaluates the expression or assignment of a query in the frame of a goroutine that
// stands. The local variables that it mentions become variables of a cell, in yaegi aliases of the
// goroutine's own, and the cell is forgotten afterwards.
func (in *Interp) evaluateIn(frame standing.Frame, q session.Query) session.Result {
	lent := map[*types.Var]reflect.Value{}
	c, err := in.prepareIn(frame, q, lent)
	if err != nil {
		return session.Result{Err: err}
	}
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		delete(in.texts, c.Text)
	}()
	failed := in.install(c)
	own := map[string]reflect.Value{} // the memory of the aliases, by their names
	for v, value := range lent {
		if failed == nil {
			name := c.lowered.Lent(v)
			var was reflect.Value
			if was, failed = in.runtime.Yaegi().Alias(name, value); failed == nil {
				own[name] = was
			}
		}
	}
	var result session.Result
	if failed == nil {
		result = in.runEvaluation(c)
	}
	pointers := map[string]reflect.Value{}
	for name, was := range own {
		if _, err := in.runtime.Yaegi().Alias(name, was); err == nil {
			pointers[name] = was.Addr()
		}
	}
	in.mu.Lock()
	c.lowered.Return(pointers)
	in.mu.Unlock()
	if failed != nil {
		return session.Result{Err: c.ErrorAt(session.KindUnsupported, c.Body.Pos(), "the variables cannot be used here: "+failed.Error())}
	}
	return result
}

// runEvaluation runs a cell made by prepareIn.
func (in *Interp) runEvaluation(c *compiled) (result session.Result) {
	in.runtime.Evaluating(func() {
		defer in.endShowing()
		if _, err := in.runtime.Trees.ExecuteProgram(c.main); err != nil {
			result = session.Result{Err: in.panicError(c, err)}
		} else {
			result = in.result(c)
		}
	})
	return result
}

// prepareIn compiles a cell for evaluateIn, and puts the local variables that the cell uses into
// lent.
func (in *Interp) prepareIn(frame standing.Frame, q session.Query, lent map[*types.Var]reflect.Value) (*compiled, *session.Error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	base := in.checker.Files().Base()
	c, err := in.compileIn(frame, q, lent)
	if err != nil {
		in.forgetFilesFrom(base)
		return nil, err
	}
	in.texts[c.Text] = &keptText{Text: c.Text}
	return c, nil
}

// compileIn is prepareIn without the clean-up after an error. in.mu is held.
func (in *Interp) compileIn(frame standing.Frame, q session.Query, lent map[*types.Var]reflect.Value) (*compiled, *session.Error) {
	used := namesIn(q.Arg)
	var variables []*types.Var
	for _, v := range frame.Variables {
		if used[v.Name] {
			lentVar := types.NewVar(token.NoPos, in.checker.Package(), v.Name, v.Type)
			variables = append(variables, lentVar)
			lent[lentVar] = v.Value
		}
	}
	src, failed := in.checker.Parse(session.Cell{Name: "evaluate", Source: q.Arg})
	if failed != nil {
		return nil, help.Explain(failed)
	}
	defer in.checker.Lend(variables)()
	checked, failed := in.checker.Check(src)
	if failed != nil {
		return nil, help.Explain(failed)
	}
	if len(checked.Objects)+len(checked.Vars)+len(checked.AddedMethods)+len(checked.Packages)+len(checked.Imports)-len(checked.Auto) > 0 {
		in.checker.DropPackages(checked.Packages)
		return nil, checked.ErrorAt(session.KindMisuse, checked.Body.Pos(),
			"only an expression or an assignment can be evaluated while code stands")
	}
	checked.Vars = variables
	out := &compiled{Cell: checked, columns: q.Columns}
	var err *session.Error
	if out.lowered, err = in.program.Lower(checked, false); err != nil {
		return nil, err
	}
	if err := in.compileLowered(out); err != nil {
		out.lowered.Rollback()
		return nil, yaegiError(checked, err)
	}
	return out, nil
}

// namesIn returns the identifiers of a piece of code.
func namesIn(source string) map[string]bool {
	names := map[string]bool{}
	file, _ := parser.ParseFile(token.NewFileSet(), "", "package main;func main(){"+source+"\n}", parser.SkipObjectResolution)
	if file != nil {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names[id.Name] = true
			}
			return true
		})
	}
	return names
}
