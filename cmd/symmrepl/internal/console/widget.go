package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/session"
)

// PanelPrinter is a Printer that shows panels of widgets: the output and the results of their
// functions have a place of their own.
type PanelPrinter interface {
	Printer
	// Panel returns the printer for a run of the function of a panel on ranks. The console calls end
	// after the run.
	Panel(id string, ranks []int) (p Printer, end func())
}

// PanelOf returns the panel among the forms of a display or a value, nil if there is none.
func PanelOf(data map[string]any) *session.Panel {
	form := data[session.PanelType]
	if form == nil {
		return nil
	}
	text, err := json.Marshal(form)
	p := new(session.Panel)
	if err != nil || json.Unmarshal(text, p) != nil {
		return nil
	}
	return p
}

// Widget runs an entry that changes a widget or runs its function, on ranks that have it.
func (c *Console) Widget(ctx context.Context, r Request, ranks []int) Outcome {
	return OutcomeOf(c.cell(ctx, r, session.Cell{Source: r.Source, Ranks: ranks, Line: 1}))
}

// following are the functions of widgets that run after a cell, which has shown or changed the
// widgets.
type following []followingFunction

type followingFunction struct {
	session.Function
	ranks []int // ascending
}

// note returns an output function that adds the functions that an output names, and calls output.
func (f *following) note(output func(session.Output)) func(session.Output) {
	return func(o session.Output) {
		if o.Display != nil {
			if p := PanelOf(o.Display.Data); p != nil {
				for _, function := range p.Run {
					f.add(function, o.Ranks)
				}
			}
		}
		output(o)
	}
}

func (f *following) add(function session.Function, ranks []int) {
	at := slices.IndexFunc(*f, func(g followingFunction) bool { return g.ID == function.ID })
	if at < 0 {
		*f = append(*f, followingFunction{function, slices.Clone(ranks)})
		return
	}
	all := append((*f)[at].ranks, ranks...)
	slices.Sort(all)
	(*f)[at].ranks = slices.Compact(all)
}

// follow runs functions, each as a silent cell. Widgets that they change run no further functions.
// It returns the errors that the printer of r has shown.
func (c *Console) follow(ctx context.Context, r Request, functions following) (errs []*session.Error) {
	for _, f := range functions {
		if ctx.Err() != nil {
			return errs
		}
		own, end := r.Printer, func() {}
		panels, has := own.(PanelPrinter)
		if has {
			own, end = panels.Panel(f.ID, f.ranks)
		}
		run := r
		run.Name, run.Line, run.Silent, run.Printer = f.ID, 1, true, own
		reply := c.once(ctx, run, session.Cell{Source: RunSource(f.Function), Line: 1, Ranks: f.ranks}, own.Output)
		end()
		if !has {
			errs = append(errs, reply.Errors...)
		}
	}
	return errs
}

// RunSource returns the cell that runs a function. Its value is the function's result.
func RunSource(f session.Function) string {
	if f.Result {
		return fmt.Sprintf("display.Run(%q)", f.ID)
	}
	return fmt.Sprintf("_ = display.Run(%q)", f.ID)
}
