package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/internal/timeline/perfetto"
	"github.com/symmrepl/symmrepl/internal/timeline/view"
	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

func trace() console.Command {
	return console.Command{
		Name: "trace", Args: "[--out FILE] CODE", Group: cells, Where: console.TargetRanks,
		Help: `run a cell and show one timeline of all ranks
A bar for each stream of each rank shows its operations in order, and within them the waits for other ranks. The table below
has for each operation its begin, its time on the device, the waits in it and the awaited ranks, its place in the cell, and
its traffic over the network between hosts. Equal operations in a row share a line, and so do
the operations of a graph. Then come the times of kernels, copies and waits, the critical path, the overlap of each rank's
streams, the rank for which the others waited and its work meanwhile, and the precision of the times.

With --out the timeline is also written to a file that ui.perfetto.dev and trace_processor open: with every kernel, copy,
call on the host and message to another host, and with arrows from each signal to the wait that it ended. docs/timeline.md
has more.`,
		TakesCode: true, CodeIn: tracedCode,
		Run: runTrace,
	}
}

// outFlag comes before the name of a file.
const outFlag = "--out"

// tracedCode returns the code in the command's argument.
func tracedCode(arg string) (code string, ok bool) {
	_, code, ok = fileOfTrace(arg)
	return code, ok
}

// fileOfTrace splits the command's argument. ok is false if --out has no file.
func fileOfTrace(arg string) (file, code string, ok bool) {
	rest, found := strings.CutPrefix(strings.TrimLeft(arg, " \t"), outFlag)
	if !found || rest != "" && !strings.ContainsAny(rest[:1], " \t=\n") {
		return "", arg, true
	}
	rest = strings.TrimLeft(rest, " \t=")
	end := strings.IndexAny(rest+"\n", " \t\n")
	return rest[:end], console.Following(rest[end:]), end > 0
}

// runTrace runs a cell and shows its timeline.
func runTrace(ctx context.Context, c *console.Call) console.Outcome {
	file, code, ok := fileOfTrace(c.Arg)
	if !ok {
		return c.Fail(errors.New("--out needs the name of a file, such as t.pftrace, and then the code"))
	}
	t, outcome, err := Traced(ctx, c.Console, func() console.Outcome {
		return console.OutcomeOf(c.Cell(ctx, session.Cell{Source: code}))
	})
	if err == nil && file != "" {
		err = WriteTrace(file, t)
	}
	if err != nil {
		return c.Fail(err)
	}
	text := t.String()
	if text == "" {
		c.Print("the cell called no operation on a device")
		return outcome
	}
	c.Reply(session.Reply{Values: []session.Value{{Text: text, Data: pictures(t)}}})
	if file != "" {
		c.Note(WroteTrace, file)
	}
	return outcome
}

// pictures are the forms of a timeline for notebooks: a page with an interactive picture, and a still
// one.
func pictures(t *timeline.Timeline) map[string]any {
	return map[string]any{"text/html": view.HTML(t), "image/svg+xml": view.SVG(t, view.Light)}
}

// Traced calls run, which evaluates cells, and returns the records of the ranks of `:on` did
// meanwhile.
func Traced(ctx context.Context, c *console.Console, run func() console.Outcome) (*timeline.Timeline, console.Outcome, error) {
	if err := inspectAll(c.Session.Inspect(ctx, c.Target(), session.Query{Topic: session.TopicStartTrace})); err != nil {
		return nil, console.Failed, err
	}
	outcome := run()
	answers, err := c.Session.Inspect(context.WithoutCancel(ctx), c.Target(), session.Query{Topic: session.TopicStopTrace})
	if err != nil {
		return nil, outcome, err
	}
	var records []timeline.Rank
	for _, a := range answers {
		if a.Trace == nil {
			a.Trace = &session.Trace{Rank: a.Rank, Clock: timeline.Clock{Why: "it has no record, as after it was replaced"}}
		}
		records = append(records, *a.Trace)
	}
	return timeline.Merge(records), outcome, nil
}

// inspectAll is the error of a query, or of the first rank that could not answer it.
func inspectAll(answers []session.Answer, err error) error {
	for _, a := range answers {
		if a.Err != nil {
			err = cmp.Or[error](err, a.Err)
		}
	}
	return err
}

// WroteTrace is the format of the remark that names the file of a timeline.
const WroteTrace = "the timeline is in %s, for ui.perfetto.dev and trace_processor"

// WriteTrace writes a timeline to a file of Perfetto.
func WriteTrace(path string, t *timeline.Timeline) error {
	return wholefile.Write(path, func(w io.Writer) error { return perfetto.Write(w, t) })
}
