package command

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func trace() console.Command {
	return console.Command{
		Name: "trace", Args: "CODE", Group: cells, Where: console.TargetRanks,
		Help: `run a cell and show a timeline of each rank's operations
A bar for each rank shows its operations in order, and within them the waits for other ranks. The table below says
when each began, how long it took on the device, how much of that it waited, for whom, where in the cell it was
called, and what it sent or received over the network between hosts. Equal operations in a row share a line, and so do the operations of a graph. Waits are sampled several times a
millisecond, so that shorter ones may be missed; tracing costs each operation a few microseconds. The bars of several
hosts are shifted by the difference of the hosts' clocks.`,
		TakesCode: true,
		Run:       runTrace,
	}
}

// runTrace runs a cell and shows its timeline.
func runTrace(ctx context.Context, c *console.Call) console.Outcome {
	if _, err := c.Inspect(ctx, session.Query{Topic: session.TopicStartTrace}); err != nil {
		return c.Fail(err)
	}
	outcome := console.OutcomeOf(c.Cell(ctx, session.Cell{Source: c.Arg}))
	traces, err := stopTraces(context.WithoutCancel(ctx), c)
	if err != nil {
		return c.Fail(err)
	}
	t := newTimeline(traces)
	if t.took == 0 {
		c.Print("the cell called no operation on a device")
		return outcome
	}
	c.Reply(session.Reply{Values: []session.Value{{Text: t.text(), Data: forms(t.picture())}}})
	return outcome
}

// stopTraces returns the traces of the target ranks by rank. A rank without a trace, such as one
// that was replaced, gets an empty one.
func stopTraces(ctx context.Context, c *console.Call) (map[int]session.Trace, error) {
	answers, err := c.Inspect(ctx, session.Query{Topic: session.TopicStopTrace})
	traces := map[int]session.Trace{}
	for _, a := range answers {
		if a.Trace == nil {
			a.Trace = &session.Trace{}
		}
		traces[a.Rank] = *a.Trace
	}
	return traces, err
}
