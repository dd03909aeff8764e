package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/session"
)

// current is the client's cell that runs.
type current struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil if none runs
	shown  *recorder
}

// entry holds the arguments of the tools that run a cell.
type entry struct {
	Source  string  `json:"source" jsonschema:"a cell of Go"`
	Ranks   []int   `json:"ranks,omitempty" jsonschema:"ranks that run it; all if left out"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"seconds after which the cell is interrupted; none if left out"`
}

// maxTimeout bounds the time of entry.Timeout, in seconds.
const maxTimeout = 24 * 60 * 60

// do calls work with a request whose cells are the client's, one call at a time, and returns the
// cells' output. The cells end with ctx, with the connection, after the entry's time, and by
// interrupt.
func (c *client) do(ctx context.Context, r *sdk.CallToolRequest, e entry, work func(context.Context, console.Request)) (outcome, error) {
	if e.Timeout < 0 || e.Timeout > maxTimeout {
		return outcome{}, fmt.Errorf("timeout %v: seconds from 0 to %d are expected", e.Timeout, maxTimeout)
	}
	ranks := slices.Compact(slices.Sorted(slices.Values(e.Ranks)))
	if n := len(ranks); n > 0 && (ranks[0] < 0 || ranks[n-1] >= c.console.Size) {
		return outcome{}, fmt.Errorf("ranks %v: ranks are 0 to %d", e.Ranks, c.console.Size-1)
	}
	if err := c.calls.await(ctx, r.Extra); err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.over, cancel)()
	if e.Timeout > 0 {
		limit := session.Limit(time.Duration(e.Timeout * float64(time.Second)))
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(ctx, time.Duration(limit), limit)
		defer end()
	}
	shown := &recorder{}
	c.current.mu.Lock()
	c.current.cancel, c.current.shown = cancel, shown
	c.current.mu.Unlock()
	c.console.SetTarget(ranks)
	work(ctx, console.Request{Source: e.Source, Printer: shown, By: name(r), Stop: "the tool interrupt", Gone: c.over.Done()})
	c.current.mu.Lock()
	c.current.cancel, c.current.shown = nil, nil
	c.current.mu.Unlock()
	return shown.end(), nil
}

// run is the tool that runs a cell.
func (c *client) run(ctx context.Context, r *sdk.CallToolRequest, e entry) (*sdk.CallToolResult, outcome, error) {
	out, err := c.do(ctx, r, e, func(ctx context.Context, q console.Request) { c.console.Cell(ctx, q) })
	return nil, out, err
}

// interrupted is the answer to interrupt.
type interrupted struct {
	Interrupted bool `json:"interrupted" jsonschema:"false if no cell of this client runs"`
}

// interrupt is the tool that interrupts the client's own cell.
func (c *client) interrupt(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, interrupted, error) {
	c.current.mu.Lock()
	defer c.current.mu.Unlock()
	if c.current.cancel == nil {
		return nil, interrupted{}, nil
	}
	c.current.cancel()
	return nil, interrupted{true}, nil
}

// orders holds the arguments of sanitize.
type orders struct {
	Source  string  `json:"source" jsonschema:"a cell of Go"`
	Orders  int     `json:"orders,omitempty" jsonschema:"number of orders in which the cell runs, from 1 to 100; 1 if left out. GPUs have orders of their own"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"seconds after which the cells are interrupted"`
}

// maxOrders bounds orders.Orders.
const maxOrders = 100

// sanitize is the tool that runs a cell in several orders while its kernels are watched.
func (c *client) sanitize(ctx context.Context, r *sdk.CallToolRequest, a orders) (*sdk.CallToolResult, outcome, error) {
	n := cmp.Or(a.Orders, 1)
	if n < 1 || n > maxOrders {
		return nil, outcome{}, fmt.Errorf("orders %d: a number from 1 to %d is expected", n, maxOrders)
	}
	out, err := c.do(ctx, r, entry{Source: a.Source, Timeout: a.Timeout}, func(ctx context.Context, q console.Request) {
		before, err := c.console.Session.Sanitizer(ctx)
		if err == nil {
			err = c.console.Sanitize(ctx, q.Printer, session.Sanitizing{On: true, Seed: before.Seed})
		}
		if err != nil {
			q.Printer.Fail("%v", err)
			return
		}
		c.console.NoteUnwatched(q.Printer)
		c.console.Schedules(ctx, n, before.Seed, q, false, func(q console.Request) console.Outcome { return c.console.Cell(ctx, q) })
		if err := c.console.Sanitize(context.WithoutCancel(ctx), q.Printer, before.Sanitizing); err != nil {
			q.Printer.Fail("%v", err)
		}
	})
	return nil, out, err
}

// traced is the answer to trace.
type traced struct {
	Outcome    outcome     `json:"outcome"`
	Operations []operation `json:"operations" jsonschema:"in the order in which they began first"`
	LeftOut    string      `json:"left_out,omitempty"`
}

// operation sums up an operation that is called at one place.
type operation struct {
	Op     string  `json:"op"`
	At     string  `json:"at,omitempty" jsonschema:"position in the cell"`
	Ranks  []int   `json:"ranks"`
	Steps  int     `json:"steps" jsonschema:"kernels and copies on all these ranks together; a call is one or more"`
	Total  float64 `json:"total_us" jsonschema:"microseconds on the device, of the rank that took longest"`
	Waited float64 `json:"waited_us" jsonschema:"microseconds of that in which the operation waited for other ranks, as far as sampled"`
	Slow   int     `json:"slowest" jsonschema:"that rank"`
}

// trace is the tool that runs a cell and sums up its operations.
func (c *client) trace(ctx context.Context, r *sdk.CallToolRequest, e entry) (*sdk.CallToolResult, traced, error) {
	var t traced
	var failed error
	var err error
	t.Outcome, err = c.do(ctx, r, e, func(ctx context.Context, q console.Request) {
		ask := func(ctx context.Context, topic session.Topic) []session.Answer {
			answers, err := c.console.Session.Inspect(ctx, c.console.Target(), session.Query{Topic: topic})
			failed = cmp.Or(failed, err)
			return answers
		}
		ask(ctx, session.TopicStartTrace)
		c.console.Cell(ctx, q)
		var o omissions
		t.Operations = first(&o, "operations", sumUp(ask(context.WithoutCancel(ctx), session.TopicStopTrace), &o))
		t.LeftOut = o.String()
	})
	return nil, t, errors.Join(err, failed)
}

// sumUp sums up the operations of ranks.
func sumUp(answers []session.Answer, o *omissions) []operation {
	type key struct{ op, at string }
	list := []operation{}
	at := map[key]int{}
	for _, a := range answers {
		if a.Trace == nil {
			continue
		}
		if a.Trace.More > 0 {
			o.parts = append(o.parts, fmt.Sprintf("%s of rank %d", count.Of(a.Trace.More, "record"), a.Rank))
		}
		type times struct{ total, waited int64 } // nanoseconds
		of := map[int]times{}                    // of this rank, by place in list
		waited := map[int]int64{}                // by call
		for _, s := range a.Trace.Slices {
			if s.Kind == timeline.Wait && s.Track >= 0 {
				waited[s.Call] += s.Took
			}
		}
		for _, s := range a.Trace.Slices {
			if s.Kind != timeline.Operation || s.Track < 0 {
				continue
			}
			k := key{s.Name, s.At}
			i, known := at[k]
			if !known {
				i = len(list)
				at[k] = i
				list = append(list, operation{Op: s.Name, At: s.At, Slow: a.Rank})
			}
			sum := of[i]
			sum.total += s.Took
			sum.waited += waited[s.Call]
			delete(waited, s.Call) // a call may have several operations
			of[i] = sum
			list[i].Steps++
			if n := len(list[i].Ranks); n == 0 || list[i].Ranks[n-1] != a.Rank {
				list[i].Ranks = append(list[i].Ranks, a.Rank)
			}
		}
		for i, sum := range of {
			if us := float64(sum.total) / 1e3; us > list[i].Total {
				list[i].Total, list[i].Waited, list[i].Slow = us, float64(sum.waited)/1e3, a.Rank
			}
		}
	}
	return list
}
