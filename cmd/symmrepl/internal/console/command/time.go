package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func timeCell() console.Command {
	return console.Command{
		Name: "time", Args: "CODE", Group: cells, Where: console.TargetRanks,
		Help: `run a cell and show how long it took
The time is measured by the session, from sending the cell to the answer of the slowest rank; it includes device work
that the cell started.
With "-n 20" before the code all ranks run it once to warm up and then 20 times; they meet before each run. For each
rank the command shows the median, the least and the greatest time, the device's and the host's. If the bytes that a rank
sends and the rate of its link are known, it also shows the share of that rate that was used.
With a line "%%" between two codes (at a prompt Alt-Enter begins a line) the codes run in turns, 20 times unless -n says
otherwise, and the command reports whether their times differ by more than chance. With -n or "%%" the code is the body of a
function: the names that it declares are not known afterwards.`,
		TakesCode: true, CodeIn: timedCode,
		Run: runTime,
	}
}

// turnsRuns is the default number of runs of each of two codes in turns.
const turnsRuns = 20

// timedCode returns the code at the end of the command's argument.
func timedCode(arg string) (code string, ok bool) {
	_, text, err := timed(arg)
	return lastCode(text), err == nil
}

// timed splits the argument into the number of runs, 0 if it has none, and the text of one or two
// codes.
func timed(arg string) (runs int, text string, err error) {
	words := strings.Fields(arg)
	if len(words) > 0 && words[0] == "-n" {
		if len(words) < 2 {
			return 0, "", errors.New("-n needs a number of runs and code")
		}
		if runs, err = strconv.Atoi(words[1]); err != nil || runs < 1 {
			return 0, "", fmt.Errorf("-n needs a positive number of runs, not %q", words[1])
		}
		_, arg, _ = strings.Cut(arg, words[0])
		_, arg, _ = strings.Cut(arg, words[1])
		arg = console.Following(arg)
	}
	if n := len(parted(arg)); n > 2 {
		return 0, "", fmt.Errorf("a line %s parts two codes, and there are %d", turns, n)
	}
	return runs, arg, nil
}

func runTime(ctx context.Context, c *console.Call) console.Outcome {
	runs, text, err := timed(c.Arg)
	if err == nil {
		err = needCode(text)
	}
	if err != nil {
		return c.Fail(err)
	}
	function := "MeasureRuns"
	if len(parted(text)) == 2 {
		runs, function = cmp.Or(runs, turnsRuns), "MeasureTurns"
	}
	if runs > 0 {
		return console.OutcomeOf(c.Cell(ctx, calling(c.Console, text, function, strconv.Itoa(runs))))
	}
	reply := c.Cell(ctx, session.Cell{Source: text})
	c.Print("elapsed " + formatSeconds(reply.Elapsed))
	return console.OutcomeOf(reply)
}

// formatSeconds shows a duration with three or four digits and a fitting unit.
func formatSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", s*1e6)
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", s*1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", s)
	}
	return d.Round(100 * time.Millisecond).String()
}
