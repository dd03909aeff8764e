package interp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/help"
	"github.com/symmrepl/symmrepl/interp/run/executions"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
	"github.com/traefik/yaegi/interp"
)

// Eval runs one cell.
func (in *Interp) Eval(ctx context.Context, cell session.Cell) session.Result {
	end, err := in.runtime.Begin()
	if err != nil {
		return session.Result{Err: err}
	}
	defer end()
	in.options.Trail.Files = [2]session.TrailFile{}
	in.mu.Lock()
	in.debugged = cell.Debugged
	c, err := in.prepare(cell)
	in.debugged = false
	in.mu.Unlock()
	if err != nil {
		return session.Result{Err: err}
	}
	return in.execute(ctx, c)
}

// prepare does everything before running: it parses, checks, lowers and compiles a cell.
func (in *Interp) prepare(cell session.Cell) (out *compiled, err *session.Error) {
	if len(cell.Source) >= largeCell {
		defer collectLater()()
	}
	base := in.checker.Files().Base()
	defer func() {
		if err != nil {
			in.forgetFilesFrom(base)
		}
	}()
	src, failed := in.checker.Parse(cell)
	if failed != nil {
		return nil, help.Explain(failed)
	}
	checked, failed := in.checker.Check(src)
	if failed != nil {
		return nil, help.Explain(failed)
	}
	declarations, sources, names := checked.Declarations(), checked.Sources(), assigned(checked) // compiling changes the syntax
	notes := append(importNotes(in.checker, checked), help.Notes(in.checker, checked)...)
	brief := checked.Brief() && !cell.Debugged
	if out, err = in.compileAll(checked); err != nil {
		in.checker.DropPackages(checked.Packages)
		return nil, err
	}
	in.help.Declare(declarations, sources)
	for _, note := range notes {
		inband.Remark(note)
	}
	for _, note := range out.lowered.Outdated() {
		inband.Remark(note)
	}
	in.remember(out)
	in.notePoints(out)
	out.columns, out.brief, out.assigned = cell.Columns, brief, names
	return out, nil
}

// importNotes returns the notes of which packages were imported automatically.
func importNotes(k *check.Checker, c *check.Cell) (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Auto)) {
		note := fmt.Sprintf("note: imported %q", c.Auto[name])
		if others := k.Alternatives(c, name); len(others) > 0 {
			note += ", not \"" + strings.Join(others, `" or "`) + "\"; an import chooses"
		}
		notes = append(notes, note)
	}
	return notes
}

// execute runs a compiled cell.
func (in *Interp) execute(ctx context.Context, c *compiled) session.Result {
	all := append(slices.Clone(c.packages), c)
	for _, part := range all {
		if err := in.install(part); err != nil {
			return session.Result{Err: c.ErrorAt(session.KindSystem, c.Body.Pos(), err.Error())}
		}
	}
	in.options.Trail.Files = c.Text.Trail()
	initialised := 0
	// Values and errors are printed as part of the execution, because that may run methods of cells.
	var result session.Result
	ending, stuck := in.runtime.Execute(ctx, c.Cell, c.brief, func() error {
		defer in.endShowing()
		for _, part := range all {
			if _, err := in.runtime.Trees.ExecuteProgram(part.main); err != nil {
				result.Err = in.panicError(c, err)
				return err
			}
			initialised++
		}
		result = in.result(c)
		return nil
	})
	in.unload(c, initialised)
	if stuck != nil {
		return session.Result{Err: stuck}
	}
	defer in.leave(c)
	outcome := in.outcome(c, ending, &result)
	in.noteUnmade(c, outcome.Err)
	return outcome
}

// unload makes packages that the cell should have initialised but did not be read again when they
// are next imported.
func (in *Interp) unload(c *compiled, initialised int) {
	if initialised < len(c.Packages) {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.checker.Unload(c.Packages[initialised:])
	}
}

// install executes the cell's declarations. It evaluates none of the user's expressions.
func (in *Interp) install(c *compiled) error {
	in.runtime.Natives.Note(c.lowered.Types, c.lowered.Local)
	for _, p := range []*interp.Program{c.decls, c.methods} {
		if p == nil {
			continue
		}
		if _, err := in.runtime.Trees.ExecuteProgram(p); err != nil {
			return err
		}
	}
	if err := in.runtime.Yaegi().Settle(c.lowered.Variables()); err != nil {
		return err
	}
	for _, again := range c.lowered.Replace {
		if err := in.runtime.Yaegi().ReplaceFunction(again.Type, again.Old, again.Fresh); err != nil {
			return err
		}
	}
	return nil
}

// outcome returns the result of a cell that has run. printed is the result of its statements; code
// that goes on may still write it.
func (in *Interp) outcome(c *compiled, ending executions.Ending, printed *session.Result) session.Result {
	switch {
	case ending.Failed != nil:
		return session.Result{Err: ending.Failed}
	case ending.Interrupted:
		if ending.Err == nil && ending.BySelf { // it ended before it could be stopped
			return *printed
		}
		var e *session.Error
		if ending.Err != nil {
			e = printed.Err
		}
		// The error of an aborted wait describes the wait; other code was just interrupted.
		if !ending.BySelf && (e == nil || e.Kind != session.KindInterrupted) {
			hint := ""
			if ending.GoesOn != "" {
				hint = fmt.Sprintf("%s does not return; it goes on, and its results will be dropped", ending.GoesOn)
			}
			return session.Result{Err: in.runtime.InterruptedError(c.Text, hint)}
		}
		e.Kind = session.KindInterrupted
		return session.Result{Err: e}
	}
	return *printed
}
