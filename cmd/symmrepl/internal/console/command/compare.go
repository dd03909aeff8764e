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
The ways are: for all-reduces, all algorithms within a host; for collectives over hosts, flat and hierarchical; NCCL where
it is found; copy engines; and for calls of handles NVSHMEM, where it is the back end. Each way begins with the values that
the tensors of the calls had before. For each way the command shows the device time, and whether its results equal the
results of the first way; if they do not, it shows the first element that differs, with both values and the number of
units in the last place between them. After lines "%%" (at a prompt Alt-Enter begins a line) other codes may follow; their
results are compared with the results of the first code. The code is the body of a function: the names that it declares are not
known afterwards.

On GPUs the last way is the cpu device; elsewhere "--device cpu" adds it. It is a second session, with as many ranks and
hosts. It runs the cells that declare names of the code, gets the values of the variables, and runs the code once. Then the
two sessions are compared: the tensors, numbers and texts in variables, the tensor with which the code ends, and the
output. docs/timeline.md lists code that cannot be compared in this way. The second session ends with the first, or after
five minutes without a ":compare".`,
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
