package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

func (c *Console) typeOf(ctx context.Context, expression string) Outcome {
	return c.inspect(ctx, "type", session.TopicType, expression)
}

// doc shows what a name stands for; the commands' own are here.
func (c *Console) doc(ctx context.Context, name string) Outcome {
	if isCommand(name) {
		return c.help(ctx, name)
	}
	return c.inspect(ctx, "doc", session.TopicDoc, name)
}

func (c *Console) caps(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "caps", session.TopicCaps, "")
}

func (c *Console) top(ctx context.Context, _ string) Outcome {
	return c.inspect(ctx, "top", session.TopicTop, "")
}

// inspect asks the target ranks and prints their answers, equal ones once.
func (c *Console) inspect(ctx context.Context, name, topic, arg string) Outcome {
	answers, err := c.Session.Inspect(ctx, c.Target(), topic, arg)
	if err != nil {
		return c.fail(name, err)
	}
	reply := folded(answers)
	c.Printer.Reply(reply)
	return outcome(reply)
}

// folded is a reply of answers, equal ones once.
func folded(answers []session.Answer) session.Reply {
	var texts folds
	for _, a := range answers {
		if a.Err == nil && a.Text != "" {
			texts.add(strings.TrimSuffix(a.Text, "\n"), a.Rank)
		}
	}
	reply := session.Reply{Errors: foldErrors(answers)}
	for _, f := range texts {
		reply.Values = append(reply.Values, session.Value{Ranks: f.ranks, Text: f.text})
	}
	return reply
}

// vars prints one table for all ranks. A line of it holds a variable's type, size and value and the ranks on
// which it has them.
func (c *Console) vars(ctx context.Context, _ string) Outcome {
	answers, err := c.Session.Inspect(ctx, c.Target(), session.TopicVars, "")
	if err != nil {
		return c.fail("vars", err)
	}
	var lines folds
	order := map[string]int{} // of names
	for _, a := range answers {
		for line := range strings.Lines(a.Text) {
			line = strings.TrimSuffix(line, "\n")
			lines.add(line, a.Rank)
			if _, known := order[variable(line)]; !known {
				order[variable(line)] = len(order)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b fold) int {
		return cmp.Compare(order[variable(a.text)], order[variable(b.text)])
	})
	rows := [][]string{{"ranks", "name", "type", "size", "value"}}
	for _, l := range lines {
		fields := strings.SplitN(l.text, "\t", 4)
		if n, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			fields[2] = formatBytes(n)
		}
		rows = append(rows, append([]string{session.FormatRanks(l.ranks)}, fields...))
	}
	if c.Size == 1 {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	reply := session.Reply{Errors: foldErrors(answers)}
	switch {
	case len(lines) > 0:
		c.Printer.Print(render.Table(rows))
	case len(reply.Errors) == 0:
		c.Printer.Print("no variables yet")
	}
	c.Printer.Reply(reply)
	return outcome(reply)
}

// variable is the name in a line of TopicVars.
func variable(line string) string {
	name, _, _ := strings.Cut(line, "\t")
	return name
}

// fold is a text and the ranks that said it.
type fold struct {
	text  string
	ranks []int
}

type folds []fold

func (f *folds) add(text string, rank int) {
	i := slices.IndexFunc(*f, func(known fold) bool { return known.text == text })
	if i < 0 {
		*f, i = append(*f, fold{text: text}), len(*f)
	}
	(*f)[i].ranks = append((*f)[i].ranks, rank)
}

// foldErrors returns the errors of answers, equal ones once.
func foldErrors(answers []session.Answer) []*session.Error {
	var texts folds
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
		e := *first[f.text]
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
