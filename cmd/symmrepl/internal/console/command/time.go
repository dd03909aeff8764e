package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
The time is that of the slowest rank as the session sees it, from sending the cell to the last answer; device work
that the cell started is part of it.
With "-n 20" before the code all ranks run the code once to warm up and then 20 times, and meet before each run: the command shows each rank's median, spread,
device time and host time, and the share of the link where the bytes and the link's rate are known. A line "%%" parts two codes: they run in turns, 20 times
unless -n says otherwise, and the command says whether their difference is real. The code is then the body of a function: the names that it declares end with it.`,
		TakesCode: true, CodeIn: timedCode,
		Run: runTime,
	}
}

// turns is the line between two codes that run in turns, and turnsRuns how often they run by default.
const (
	turns     = "%%"
	turnsRuns = 20
)

// timedCode returns the code at the end of the command's argument.
func timedCode(arg string) (code string, ok bool) {
	_, codes, err := timed(arg)
	if err != nil {
		return "", false
	}
	return codes[len(codes)-1], true
}

// timed splits the argument into the number of runs, 0 if it has none, and one or two codes.
func timed(arg string) (runs int, codes []string, err error) {
	words := strings.Fields(arg)
	if len(words) > 0 && words[0] == "-n" {
		if len(words) < 2 {
			return 0, nil, errors.New("-n needs a number of runs and code")
		}
		if runs, err = strconv.Atoi(words[1]); err != nil || runs < 1 {
			return 0, nil, fmt.Errorf("-n needs a positive number of runs, not %q", words[1])
		}
		_, arg, _ = strings.Cut(arg, words[0])
		_, arg, _ = strings.Cut(arg, words[1])
		arg = strings.TrimLeft(arg, " \t\r\n")
	}
	if codes = parted(arg); len(codes) > 2 {
		return 0, nil, fmt.Errorf("a line %s parts two codes, and there are %d", turns, len(codes))
	}
	return runs, codes, nil
}

// parted splits an argument into its codes.
func parted(arg string) []string {
	codes := []string{""}
	for line := range strings.Lines(arg) {
		if strings.TrimSpace(line) == turns {
			codes = append(codes, "")
			continue
		}
		codes[len(codes)-1] += line
	}
	return codes
}

// needCode refuses codes that are empty.
func needCode(codes []string) error {
	if slices.ContainsFunc(codes, func(code string) bool { return strings.TrimSpace(code) == "" }) {
		return errors.New("there is no code to run")
	}
	return nil
}

func runTime(ctx context.Context, c *console.Call) console.Outcome {
	runs, codes, err := timed(c.Arg)
	if err == nil {
		err = needCode(codes)
	}
	if err != nil {
		return c.Fail(err)
	}
	switch {
	case len(codes) == 2 && runs == 0:
		runs = turnsRuns
		fallthrough
	case len(codes) == 2:
		return console.OutcomeOf(c.Cell(ctx, session.Cell{Source: calling(codes, "MeasureTurns", strconv.Itoa(runs))}))
	case runs > 0:
		return console.OutcomeOf(c.Cell(ctx, session.Cell{Source: calling(codes, "MeasureRuns", strconv.Itoa(runs))}))
	}
	reply := c.Cell(ctx, session.Cell{Source: codes[0]})
	c.Print("elapsed " + formatSeconds(reply.Elapsed))
	return console.OutcomeOf(reply)
}

// calling is a cell that calls a function of symm with the codes as functions, after other arguments.
func calling(codes []string, function string, args ...string) string {
	for _, code := range codes {
		args = append(args, "func() { "+strings.TrimRight(code, "\r\n")+"\n}")
	}
	return "symm." + function + "(" + strings.Join(args, ", ") + ")"
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
