package command

import (
	"context"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func slow() console.Command {
	return console.Command{
		Name: "slow", Args: "[off|RANKS TIME [launches|puts|signals] [once] [seed N]]", Yields: true, Group: cells, Where: console.AllRanks,
		Help: `make calls of some ranks begin late, to find a wait that is missing
":slow 2 50us" delays on rank 2 all that cells put in streams, ":slow 0,2 1ms puts" the puts of ranks 0 and 2 alone; "launches" are kernels
and replays of graphs. With "once" only the next call is late, with "seed 7" each by a time from 0 to the one given, which the seed chooses. The delay is on
the device: the host goes on. A result that changes lacks a wait or a barrier. Without anything the command says which ranks are slowed.
A rank that is replaced is no longer slowed.`,
		Complete: completeSlow,
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			answers, err := c.Console.Session.Inspect(ctx, nil, session.Query{Topic: session.TopicSlow, Arg: c.Arg})
			if err != nil {
				return c.Fail(err)
			}
			return c.Reply(folded(agreed(answers), func(a session.Answer) string { return a.Text }))
		},
	}
}

// notSlowed is the answer of a rank that knows of no setting.
const notSlowed = "no rank is slowed"

// agreed returns the answers of ranks. Ranks that have been replaced since, and do not know the
// setting, get the answer of the ranks that know it.
func agreed(answers []session.Answer) []session.Answer {
	setting := notSlowed
	for _, a := range answers {
		if a.Err == nil && a.Text != notSlowed {
			setting = a.Text
		}
	}
	all := slices.Clone(answers)
	for i, a := range all {
		if a.Err == nil && a.Text == notSlowed {
			all[i].Text = setting
		}
	}
	return all
}

// completeSlow completes the words of a setting, and its ranks.
func completeSlow(_ context.Context, c *console.Console, arg string) ([]session.Candidate, string) {
	words := strings.Split(arg, " ")
	word := words[len(words)-1]
	switch len(words) {
	case 1:
		return c.CompleteRanks(arg, "off")
	case 2:
		return nil, word
	}
	var candidates []session.Candidate
	for _, name := range []string{"launches", "puts", "signals", "once", "seed"} {
		if strings.HasPrefix(name, word) && !slices.Contains(words, name) {
			candidates = append(candidates, session.Candidate{Name: name})
		}
	}
	return candidates, word
}
