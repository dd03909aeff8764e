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
	return c.inspect(ctx, "type", session.TopicType, expression)
}

func (c *Console) caps(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "caps", session.TopicCaps, "")
}

func (c *Console) topo(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "topo", session.TopicTopo, "")
}

func (c *Console) top(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "top", session.TopicTop, "")
}

// inspect asks the target ranks and prints their answers, equal ones once.
func (c *Console) inspect(ctx context.Context, name, topic, arg string) Outcome {
	answers, err := c.Session.Inspect(ctx, c.target, topic, arg)
	if err != nil {
		return c.fail(name, err)
	}
	type answer struct {
		text  string
		err   *session.Error
		ranks []int
	}
	var folded []*answer
	for _, a := range answers {
		key := a.Text
		if a.Err != nil {
			key = a.Err.Error()
		}
		i := slices.IndexFunc(folded, func(f *answer) bool { return f.text == key && (f.err == nil) == (a.Err == nil) })
		if i < 0 {
			folded = append(folded, &answer{text: key, err: a.Err})
			i = len(folded) - 1
		}
		folded[i].ranks = append(folded[i].ranks, a.Rank)
	}
	outcome := Done
	var reply session.Reply
	for _, f := range folded {
		if f.err != nil {
			e := *f.err
			e.Ranks = f.ranks
			reply.Errors = append(reply.Errors, &e)
			outcome = Failed
		} else if f.text != "" {
			reply.Values = append(reply.Values, session.Value{Ranks: f.ranks, Text: strings.TrimSuffix(f.text, "\n")})
		}
	}
	c.Printer.Reply(reply)
	return outcome
}

// vars prints one table for all ranks. A line of it holds a variable's type and value and the ranks on which it has
// them.
func (c *Console) vars(ctx context.Context, _ string) Outcome {
	answers, err := c.Session.Inspect(ctx, c.target, session.TopicVars, "")
	if err != nil {
		return c.fail("vars", err)
	}
	type variable struct {
		order int // of the name
		text  string
		ranks []int
	}
	var vars []*variable
	order := map[string]int{}
	for _, a := range answers {
		if a.Err != nil {
			e := *a.Err
			e.Ranks = []int{a.Rank}
			c.Printer.Error(&e)
			continue
		}
		for line := range strings.Lines(a.Text) {
			line = strings.TrimSuffix(line, "\n")
			name, _, _ := strings.Cut(line, "\t")
			if _, known := order[name]; !known {
				order[name] = len(order)
			}
			i := slices.IndexFunc(vars, func(v *variable) bool { return v.text == line })
			if i < 0 {
				vars = append(vars, &variable{order: order[name], text: line})
				i = len(vars) - 1
			}
			vars[i].ranks = append(vars[i].ranks, a.Rank)
		}
	}
	if len(vars) == 0 {
		c.Printer.Print("no variables yet")
		return Done
	}
	slices.SortStableFunc(vars, func(a, b *variable) int { return cmp.Compare(a.order, b.order) })
	rows := [][]string{{"ranks", "name", "type", "value"}}
	for _, v := range vars {
		rows = append(rows, append([]string{session.FormatRanks(v.ranks)}, strings.SplitN(v.text, "\t", 3)...))
	}
	if c.Printer.Size == 1 {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	c.Printer.Print(render.Table(rows))
	return Done
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
	return Done
}
