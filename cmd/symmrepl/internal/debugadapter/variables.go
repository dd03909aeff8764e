package debugadapter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/session"
)

const (
	valueColumns = 120  // of a value
	maxValue     = 4096 // bytes of a value
	maxRows      = 1000 // rows below one row
)

// row is a row of a client's table of variables.
type row struct {
	name, kind, value string
	eval              string // expression of the value; "" if it has none
	open              opener // nil: the row cannot be opened
}

// toDAP returns rows as the protocol has them. What is left out is counted in a last row.
func (a *Adapter) toDAP(rows []row) []dap.Variable {
	list := []dap.Variable{}
	for i, r := range rows {
		if i == maxRows {
			list = append(list, dap.Variable{Name: "…", Value: fmt.Sprintf("%d more", len(rows)-maxRows)})
			break
		}
		v := dap.Variable{Name: r.name, Value: shortened(r.value), Type: r.kind, EvaluateName: r.eval}
		if r.open != nil {
			v.VariablesReference = a.handles.add(r.open)
		}
		if a.lab != nil {
			v.Type = labType(v.Type, v.Value)
		}
		list = append(list, v)
	}
	return list
}

// labType returns the type of a row for JupyterLab, whose tree shows the type of a variable in place
// of its value.
func labType(kind, value string) string {
	switch {
	case kind == "" || value == "":
		return kind
	case strings.HasPrefix(value, kind): // as []int{1}
		return value
	}
	return kind + " = " + value
}

// shortened returns the beginning of a long value.
func shortened(value string) string {
	if len(value) <= maxValue {
		return value
	}
	return strings.ToValidUTF8(value[:maxValue], "") + "…"
}

// sessionRows returns the session's variables on all ranks: those that ranks have equal once, and
// then, if there are several ranks, a row for each rank with its own.
func (a *Adapter) sessionRows(ctx context.Context) ([]row, error) {
	state, err := session.StateOf(ctx, a.console.Session, nil, valueColumns)
	if err != nil {
		return nil, err
	}
	rows := a.folded(state)
	if len(state.Ranks) > 1 {
		for _, info := range state.Ranks {
			rows = append(rows, row{name: fmt.Sprintf("rank %d", info.Rank), value: describe(info),
				open: func(ctx context.Context) ([]dap.Variable, error) {
					rows, err := a.rankRows(ctx, info.Rank)
					return a.toDAP(rows), err
				}})
		}
	}
	for _, e := range state.Errors {
		rows = append(rows, row{name: session.Prefix(e.Ranks, a.console.Size), value: e.Error()})
	}
	return rows, nil
}

// describe describes a rank in a few words.
func describe(info session.RankInfo) string {
	if info.Doing == "" {
		return info.State + ", " + info.Device
	}
	return info.State + ", " + info.Device + ": " + info.Doing
}

// folded returns a row for each name of a session's variables. A variable that differs between
// ranks opens to a row for each value, with its ranks.
func (a *Adapter) folded(state session.State) []row {
	var rows []row
	for rest := state.Variables; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Name == rest[0].Name {
			n++
		}
		same := rest[:n]
		rest = rest[n:]
		if n == 1 && !same[0].Differs {
			rows = append(rows, a.variable(same[0].Name, same[0].Ranks, idle, same[0].Variable))
			continue
		}
		r := row{name: same[0].Name, kind: same[0].Type, eval: same[0].Name}
		var values []string
		for _, v := range same {
			if v.Type != r.kind {
				r.kind = "differs"
			}
			values = append(values, fmt.Sprintf("[%s] %s", session.FormatRanks(v.Ranks), oneLine(v.Value)))
		}
		r.value = strings.Join(values, "  ")
		r.open = func(context.Context) ([]dap.Variable, error) {
			var parts []row
			for _, v := range same {
				part := a.variable(ranksLabel(v.Ranks), v.Ranks, idle, v.Variable)
				parts = append(parts, part)
			}
			return a.toDAP(parts), nil
		}
		rows = append(rows, r)
	}
	return rows
}

// rankRows returns the session's variables on one rank.
func (a *Adapter) rankRows(ctx context.Context, rank int) ([]row, error) {
	answers, err := a.console.Session.Inspect(ctx, []int{rank}, session.Query{Topic: session.TopicVars, Columns: valueColumns})
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, answer := range answers {
		if answer.Err != nil {
			return nil, answer.Err
		}
		for _, v := range answer.Variables {
			rows = append(rows, a.variable(v.Name, []int{rank}, idle, v))
		}
	}
	return rows, nil
}

// idle is the frame of variables of ranks that are not stopped.
const idle = -1

// variable returns the row of a variable that is equal on ranks, in a frame of theirs.
func (a *Adapter) variable(name string, ranks []int, frame int, v session.Variable) row {
	r := row{name: name, kind: v.Type, value: oneLine(v.Value), eval: v.Name}
	if v.Tensor != nil {
		t := tensor{of: v.Name, ranks: slices.Clone(ranks), frame: frame, size: v.Size, info: *v.Tensor}
		r.open = func(ctx context.Context) ([]dap.Variable, error) {
			rows, err := a.tensorRows(ctx, t)
			return a.toDAP(rows), err
		}
	}
	return r
}

// oneLine returns a value without its further lines, which are the rows of a tensor.
func oneLine(value string) string {
	line, _, more := strings.Cut(value, "\n")
	if more {
		line += " …"
	}
	return line
}

// ranksLabel names ranks: "rank 0", "ranks 0,2".
func ranksLabel(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + session.FormatRanks(ranks)
}
