package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

func (c *Console) typeOf(ctx context.Context, expression string) Outcome {
	return c.inspect(ctx, "type", session.Query{Topic: session.TopicType, Arg: expression})
}

// doc shows what a name stands for; the commands' own are here.
func (c *Console) doc(ctx context.Context, name string) Outcome {
	if isCommand(name) {
		return c.help(ctx, name)
	}
	return c.inspect(ctx, "doc", session.Query{Topic: session.TopicDoc, Arg: name})
}

func (c *Console) caps(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "caps", session.Query{Topic: session.TopicCaps})
}

func (c *Console) top(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "top", session.Query{Topic: session.TopicTop})
}

// inspect asks the target ranks and prints their answers, equal ones once.
func (c *Console) inspect(ctx context.Context, name string, q session.Query) Outcome {
	answers, err := c.Session.Inspect(ctx, c.Target(), q)
	if err != nil {
		return c.fail(name, err)
	}
	reply := folded(answers, func(a session.Answer) string { return a.Text })
	c.Printer.Reply(reply)
	return outcome(reply)
}

// folded makes a reply of answers: equal texts are one value, equal errors one error.
func folded(answers []session.Answer, text func(session.Answer) string) session.Reply {
	var texts folds[string]
	for _, a := range answers {
		if a.Err == nil && text(a) != "" {
			texts.add(strings.TrimSuffix(text(a), "\n"), a.Rank)
		}
	}
	reply := session.Reply{Errors: foldErrors(answers)}
	for _, f := range texts {
		reply.Values = append(reply.Values, session.Value{Ranks: f.ranks, Text: f.value})
	}
	return reply
}

// vars prints one table for all ranks. A line of it holds a variable's type, size and value and the ranks on
// which it has them.
func (c *Console) vars(ctx context.Context, _ string) Outcome {
	answers, err := c.Session.Inspect(ctx, c.Target(), session.Query{Topic: session.TopicVars})
	if err != nil {
		return c.fail("vars", err)
	}
	var vars folds[session.Variable]
	order := map[string]int{} // of names
	for _, a := range answers {
		for _, v := range a.Variables {
			vars.add(v, a.Rank)
			if _, known := order[v.Name]; !known {
				order[v.Name] = len(order)
			}
		}
	}
	slices.SortStableFunc(vars, func(a, b fold[session.Variable]) int {
		return cmp.Compare(order[a.value.Name], order[b.value.Name])
	})
	rows := [][]string{{"ranks", "name", "type", "size", "value"}}
	for _, f := range vars {
		v := f.value
		rows = append(rows, []string{session.FormatRanks(f.ranks), v.Name, v.Type, formatBytes(v.Size), v.Value})
	}
	if c.Size == 1 {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	reply := session.Reply{Errors: foldErrors(answers)}
	switch {
	case len(vars) > 0:
		c.Printer.Print(render.Table(rows))
	case len(reply.Errors) == 0:
		c.Printer.Print("no variables yet")
	}
	c.Printer.Reply(reply)
	return outcome(reply)
}

// fold is a value and the ranks that have it.
type fold[T comparable] struct {
	value T
	ranks []int
}

type folds[T comparable] []fold[T]

func (f *folds[T]) add(value T, rank int) {
	i := slices.IndexFunc(*f, func(known fold[T]) bool { return known.value == value })
	if i < 0 {
		*f, i = append(*f, fold[T]{value: value}), len(*f)
	}
	(*f)[i].ranks = append((*f)[i].ranks, rank)
}

// foldErrors returns the errors of answers, equal ones once.
func foldErrors(answers []session.Answer) []*session.Error {
	var texts folds[string]
	first := map[string]*session.Error{}
	for _, a := range answers {
		if a.Err != nil {
			text := a.Err.Error()
			texts.add(text, a.Rank)
			if first[text] == nil {
				first[text] = a.Err
			}
		}
	}
	var errs []*session.Error
	for _, f := range texts {
		e := *first[f.value]
		e.Ranks = f.ranks
		errs = append(errs, &e)
	}
	return errs
}

func (c *Console) rankTable(ctx context.Context, _ string) Outcome {
	infos, err := c.Session.Ranks(ctx)
	if err != nil {
		return c.fail("ranks", err)
	}
	rows := [][]string{{"rank", "host", "pid", "start", "memory", "state", "device", ""}}
	for _, r := range infos {
		rows = append(rows, []string{
			fmt.Sprint(r.Rank), r.Host, fmt.Sprint(r.PID), fmt.Sprint(r.Incarnation),
			formatBytes(r.RSS), r.State, r.Device, r.Doing,
		})
	}
	c.Printer.Print(render.Table(rows))
	return Done
}

// formatBytes shows a size in binary units.
func formatBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

func (c *Console) restart(ctx context.Context, arg string) Outcome {
	list, replay := strings.CutSuffix(arg, "replay")
	var ranks []int
	if list = strings.TrimSpace(list); list != "" {
		var err error
		if ranks, err = c.Ranks(list); err != nil {
			return c.fail("restart", err)
		}
	}
	err := c.Session.Restart(ctx, ranks, replay, c.Printer.Output)
	c.Printer.CloseLine()
	if err != nil {
		return c.fail("restart", err)
	}
	if !replay && (ranks == nil || len(ranks) == c.Size) {
		c.setFolder("")
	}
	if !replay && c.tour != nil {
		c.Printer.Note(nil, "`:tutorial %s %d` runs the cells before this step again", c.tour.Name, max(c.tour.at, 1))
	}
	return Done
}
