package debugadapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/session"
)

// maxBreakpoints bounds the breakpoints in one source.
const maxBreakpoints = 1000

// breakpointKey identifies a breakpoint that a client has set.
type breakpointKey struct {
	source session.BreakpointSource
	line   int // as the client has asked for
}

// setBreakpoints replaces the breakpoints in a source.
func (a *Adapter) setBreakpoints(ctx context.Context, asked dap.SetBreakpointsArguments) ([]dap.Breakpoint, error) {
	d, err := a.open()
	if err != nil {
		return nil, err
	}
	lines := asked.Lines
	if len(asked.Breakpoints) > 0 || lines == nil {
		lines = nil
		for _, b := range asked.Breakpoints {
			lines = append(lines, b.Line)
		}
	}
	if len(lines) > maxBreakpoints {
		return nil, fmt.Errorf("%d breakpoints in one source: there may be %d", len(lines), maxBreakpoints)
	}
	source, err := a.breakpointSource(ctx, asked.Source)
	if err != nil {
		return nil, err
	}
	set, err := d.SetBreakpoints(ctx, source, lines)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []dap.Breakpoint{}
	for _, b := range set {
		one := a.breakpoint(b)
		one.Source = &asked.Source // JupyterLab's panel shows none without it
		list = append(list, one)
	}
	return list, nil
}

// breakpoint returns a breakpoint as the protocol has it. a.mu is held.
func (a *Adapter) breakpoint(b session.Breakpoint) dap.Breakpoint {
	key := breakpointKey{b.Source, b.Asked}
	if a.breakpoints == nil {
		a.breakpoints = map[breakpointKey]int{}
	}
	if a.breakpoints[key] == 0 {
		a.breakpoints[key] = len(a.breakpoints) + 1
	}
	return dap.Breakpoint{Id: a.breakpoints[key], Verified: b.Verified, Line: b.Line, Message: b.Reason}
}

// changed sends the present state of an editor's breakpoints to the editor.
func (a *Adapter) changed(all []session.Breakpoint) {
	if a.lab != nil { // it reads them after each cell
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range all {
		if a.breakpoints[breakpointKey{b.Source, b.Asked}] != 0 {
			a.send(&dap.BreakpointEvent{Event: event("breakpoint"),
				Body: dap.BreakpointEventBody{Reason: "changed", Breakpoint: a.breakpoint(b)}})
		}
	}
}

// breakpointSource returns the session's name for a source of the client.
func (a *Adapter) breakpointSource(ctx context.Context, s dap.Source) (session.BreakpointSource, error) {
	switch {
	case a.lab != nil:
		text, err := a.lab.text(s.Path)
		if err != nil {
			return session.BreakpointSource{}, err
		}
		source := a.console.Source(text)
		if source == "" {
			return session.BreakpointSource{}, errors.New("this cell has commands only: nothing in it can stop")
		}
		return session.BreakpointSource{Text: source}, nil
	case s.SourceReference > 0:
		return session.BreakpointSource{Cell: s.SourceReference}, nil
	case s.Path != "":
		name, err := a.nameOf(ctx, s.Path)
		return session.BreakpointSource{File: name}, err
	}
	return session.BreakpointSource{}, errors.New("the source has neither a path nor a sourceReference")
}

// nameOf returns the name of the cells of a file: its path, unless cells of the session come from
// the file by a relative path.
func (a *Adapter) nameOf(ctx context.Context, path string) (string, error) {
	if !a.attached {
		return path, nil
	}
	cells, err := a.console.Session.History(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		if isFile(c.Name) && !filepath.IsAbs(c.Name) && strings.HasSuffix(path, "/"+filepath.Clean(c.Name)) {
			a.mu.Lock()
			if a.paths == nil {
				a.paths = map[string]string{}
			}
			a.paths[c.Name] = path
			a.mu.Unlock()
			return c.Name, nil
		}
	}
	return path, nil
}

// isFile reports whether the name of a cell is the path of a file.
func isFile(name string) bool { return strings.HasSuffix(name, ".go") }

// sourceOf returns the source that a place is in.
func (a *Adapter) sourceOf(p session.Place) *dap.Source {
	switch {
	case a.lab != nil:
		return a.lab.sourceOf(p)
	case isFile(p.Name):
		a.mu.Lock()
		defer a.mu.Unlock()
		path := cmp.Or(a.paths[p.Name], p.Name)
		return &dap.Source{Name: filepath.Base(path), Path: path}
	case p.Cell > 0:
		return &dap.Source{Name: p.Name, SourceReference: p.Cell}
	}
	return nil
}

// sources lists the cells of the session.
func (a *Adapter) sources(ctx context.Context) ([]dap.Source, error) {
	cells, err := a.console.Session.History(ctx)
	if err != nil {
		return nil, err
	}
	list := []dap.Source{}
	for _, c := range cells {
		if s := a.sourceOf(session.Place{Cell: c.ID, Name: cmp.Or(c.Name, fmt.Sprintf("cell[%d]", c.ID))}); s != nil &&
			!slices.ContainsFunc(list, func(known dap.Source) bool {
				return known.Path != "" && known.Path == s.Path
			}) {
			list = append(list, *s)
		}
	}
	return list[max(0, len(list)-maxRows):], nil
}

// source returns the text of a source.
func (a *Adapter) source(ctx context.Context, asked dap.SourceArguments) (string, error) {
	number := asked.SourceReference
	if asked.Source != nil {
		if a.lab != nil && asked.Source.Path != "" {
			if text, err := a.lab.text(asked.Source.Path); err == nil {
				return text, nil
			}
			number = a.lab.cellOf(asked.Source.Path)
		} else if asked.Source.SourceReference > 0 {
			number = asked.Source.SourceReference
		}
	}
	cells, err := a.console.Session.History(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		if c.ID == number && number > 0 {
			return strings.Repeat("\n", max(c.Line-1, 0)) + c.Text(), nil
		}
	}
	return "", errors.New("there is no such source in this session")
}
