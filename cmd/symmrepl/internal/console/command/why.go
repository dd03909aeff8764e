package command

import (
	"context"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func why() console.Command {
	return console.Command{
		Name: "why", Args: "[CELL]", Yields: true, Group: cells, Where: console.TargetRanks,
		Help: `show how the calls of a cell were executed, without running it again
For each call: its place, its way and the rule that chose the way, the reason why NCCL did not get the call, the bytes and the
medium that carries them, the kernels and whether they were loaded before, operands that were staged in symmetric memory, the
source of the result's memory, and the back end. Equal calls, as in a loop, are shown once, with their number. Ranks
remember the latest eight cells that have made calls, and the first 128 calls of each; without a number the command shows
the latest cell.`,
		Complete: completeNumber,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			answers, err := c.Inspect(ctx, session.Query{Topic: session.TopicWhy, Arg: c.Arg})
			if err != nil {
				return c.Fail(err)
			}
			reply := foldedCalls(answers)
			if c.Request.Notebook { // a tab for each group of ranks, not for each call
				reply = folded(answers, func(a session.Answer) string { return a.Text })
			}
			if len(reply.Values) == 0 && len(reply.Errors) == 0 {
				if c.Arg != "" {
					c.Note("no calls of cell %s are remembered: it has made none on a device, or eight later cells have; Empty, Rendezvous, Compile and other calls by which ranks meet on the host alone are not listed", c.Arg)
				} else {
					c.Note("no calls are remembered")
				}
			}
			return c.Reply(reply)
		},
	}
}

// foldedCalls makes a reply of answers call by call: facts that ranks have in common are shown
// once.
func foldedCalls(answers []session.Answer) session.Reply {
	reply := session.Reply{Errors: foldErrors(answers)}
	calls := make([][]string, len(answers))
	most := 0
	for i, a := range answers {
		for line := range strings.Lines(a.Text) {
			if n := len(calls[i]); n > 0 && strings.HasPrefix(line, " ") {
				calls[i][n-1] += line
			} else {
				calls[i] = append(calls[i], line)
			}
		}
		most = max(most, len(calls[i]))
	}
	for n := range most {
		var texts folds[string]
		for i, a := range answers {
			if n < len(calls[i]) {
				texts.add(strings.TrimSuffix(calls[i][n], "\n"), a.Rank)
			}
		}
		for _, f := range texts {
			reply.Values = append(reply.Values, session.Value{Ranks: f.ranks, Text: f.value})
		}
	}
	return reply
}
