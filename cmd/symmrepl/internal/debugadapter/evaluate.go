package debugadapter

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// evaluate returns the value of an expression, folded by rank: in a frame of a stopped rank, for
// JupyterLab of all stopped ranks, or by a cell if no cell runs. What a user types to an editor
// becomes a cell of the session's history.
func (a *Adapter) evaluate(ctx context.Context, asked dap.EvaluateArguments) (string, error) {
	if strings.TrimSpace(asked.Expression) == "" {
		return "", errors.New("an expression of Go is expected")
	}
	a.mu.Lock()
	stop := a.stop
	a.mu.Unlock()
	var reply session.Reply
	var err error
	switch {
	case stop != nil:
		var ranks []int
		index := 0
		if asked.FrameId != 0 {
			f, err := a.findFrame(asked.FrameId)
			if err != nil {
				return "", err
			}
			if f.index < 0 {
				return "", errors.New("this rank is not stopped")
			}
			index = f.index
			if a.lab == nil {
				ranks = []int{f.rank}
			}
		}
		reply, err = a.evaluateIn(ctx, ranks, index, asked.Expression)
	default:
		cell := session.Cell{Source: asked.Expression, Name: "evaluate", Silent: true}
		if asked.Context == "repl" && a.lab == nil {
			cell.Name, cell.Silent, cell.By = "", false, a.by
		}
		reply, err = a.cell(ctx, cell)
	}
	if err != nil {
		return "", err
	}
	return a.text(reply.Values), nil
}

// evaluateIn evaluates an expression in a frame of ranks (nil: all that stand). The first error of a
// rank is an error.
func (a *Adapter) evaluateIn(ctx context.Context, ranks []int, index int, expression string) (session.Reply, error) {
	d, err := a.open()
	if err != nil {
		return session.Reply{}, err
	}
	reply, err := d.Evaluate(ctx, ranks, index, expression)
	if err == nil && len(reply.Errors) > 0 {
		err = reply.Errors[0]
	}
	return reply, err
}

// cell evaluates a cell if no cell runs. The first error of a rank is an error.
func (a *Adapter) cell(ctx context.Context, cell session.Cell) (reply session.Reply, err error) {
	err = a.look(ctx, func(ctx context.Context) { reply = a.console.Session.Eval(ctx, cell) })
	if err == nil && len(reply.Errors) > 0 {
		err = reply.Errors[0]
	}
	return reply, err
}

// text returns values as text, folded by rank.
func (a *Adapter) text(values []session.Value) string {
	var text bytes.Buffer
	render.New(&text, &text, a.console.Size, false).Reply(session.Reply{Values: values})
	return shortened(strings.TrimSuffix(text.String(), "\n"))
}
