package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// showText puts a query to the target ranks and prints the texts of their answers, each different
// text once.
func showText(ctx context.Context, c *console.Call, q session.Query) console.Outcome {
	answers, err := c.Inspect(ctx, q)
	if err != nil {
		return c.Fail(err)
	}
	return c.Reply(folded(answers, func(a session.Answer) string {
		if q.Topic == session.TopicDoc {
			return console.FitText(a.Text, c.Console.ColumnsOfRanks(c.Request.Columns))
		}
		return a.Text
	}))
}

// completeGo completes an argument that is an expression or a name.
func completeGo(ctx context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	return c.CompleteGo(ctx, arg)
}

// folded makes a reply of answers: equal texts become one value, equal errors one error.
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

// foldErrors returns the errors of answers, each different error once.
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

// fold is a value and the ranks that have it.
type fold[T comparable] struct {
	value T
	ranks []int
}

// folds are values in the order in which ranks first had them.
type folds[T comparable] []fold[T]

func (f *folds[T]) add(value T, rank int) {
	i := slices.IndexFunc(*f, func(known fold[T]) bool { return known.value == value })
	if i < 0 {
		*f, i = append(*f, fold[T]{value: value}), len(*f)
	}
	(*f)[i].ranks = append((*f)[i].ranks, rank)
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
