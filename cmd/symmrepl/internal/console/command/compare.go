package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/shadow"
	"github.com/symmrepl/symmrepl/session"
)

func compare() console.Command {
	return console.Command{
		Name: "compare", Args: "[--device cpu] CODE", Yields: true, Group: cells, Where: console.AllRanks,
		Help: `run code by every way that its calls can take, and compare the results
All-reduces go by each of their ways within a host, collectives over hosts flat and hierarchical, by NCCL where it is found, by copy engines, and calls
of handles by NVSHMEM where it is the back end. Each way
begins with the values that the tensors of the calls had before. The command shows each way's device time and whether its results are equal, or the first element that differs with both
values and the units in the last place between them. After a line "%%" (at a prompt Alt-Enter begins it) may follow other codes, which are compared with the first. The code is the body of
a function: the names that it declares end with it.

On GPUs the last way is the cpu device; with "--device cpu" also elsewhere. A second session of as many ranks and hosts is started there. It runs the cells
that declare what the code uses, gets the values of its variables, and runs the code once. Tensors, numbers and texts that variables have then, a tensor with which the
code ends, and what it prints are compared with the first session's. docs/timeline.md says which code cannot be compared so. The second session ends with
the first, or after five minutes without a ":compare".`,
		TakesCode: true,
		CodeIn: func(arg string) (code string, ok bool) {
			_, text, err := compared(arg)
			return lastCode(text), err == nil
		},
		Run: func(ctx context.Context, c *console.Call) console.Outcome {
			device, text, err := compared(c.Arg)
			if err == nil {
				err = needCode(text)
			}
			if err != nil {
				return c.Fail(err)
			}
			cell := calling(c.Console, text, "Compare")
			second := c.Console.Shadow
			if second == nil && device != "" {
				return c.Fail(errors.New("this session has no second one on the cpu device"))
			}
			if second == nil || device == "" && !second.Always {
				return console.OutcomeOf(c.Cell(ctx, cell))
			}
			comparing := second.Begin(ctx, parted(text)[0])
			reply := c.Cell(ctx, cell)
			if console.OutcomeOf(reply) != console.Done {
				comparing.Drop()
				return console.Failed
			}
			row := session.Value{Text: secondWay(comparing.End(ctx), reply)}
			for _, v := range reply.Values {
				row.Ranks = append(row.Ranks, v.Ranks...)
			}
			slices.Sort(row.Ranks)
			return c.Reply(session.Reply{Values: []session.Value{row}})
		},
	}
}

// deviceFlag comes before the name of a device.
const deviceFlag = "--device"

// compared splits the argument into a device, "" if it names none, and the text of codes.
func compared(arg string) (device, text string, err error) {
	if rest, found := strings.CutPrefix(strings.TrimLeft(arg, " \t"), deviceFlag); found && rest != "" &&
		strings.ContainsAny(rest[:1], " \t=") {
		rest = strings.TrimLeft(rest, " \t=")
		end := strings.IndexAny(rest+"\n", " \t\n")
		if device, arg = rest[:end], console.Following(rest[end:]); device != "cpu" {
			return "", "", fmt.Errorf("%s %s: cpu is the device that code can also be compared on", deviceFlag, device)
		}
	}
	return device, arg, nil
}

// reference ends the first line of a Comparison.
const reference = "the others are compared with it"

// secondWay is the line of the cpu device, below the table in a reply.
func secondWay(w shadow.Way, table session.Reply) string {
	const device = "cpu device"
	took, result := digits(w.Took).String(), "equal: "+strings.Join(w.Changed, ", ")
	switch {
	case w.Refused != "":
		took, result = "-", "cannot: "+w.Refused
	case w.Differs != "":
		result = "differs: " + w.Differs
	case len(w.Changed) == 0:
		result = "equal, but the code changes nothing that can be compared: let it end with its result, or keep that in a variable that a cell has declared"
	}
	width := len(device)
	for _, v := range table.Values {
		first, _, _ := strings.Cut(v.Text, "\n")
		if before, ok := strings.CutSuffix(first, reference); ok {
			width = max(width, len([]rune(before))-len("              "))
		}
	}
	return fmt.Sprintf("%-*s  %10s  %s", width, device, took, result)
}

// digits rounds a duration to four digits.
func digits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for unit*10000 <= d {
		unit *= 10
	}
	return d.Round(unit)
}
