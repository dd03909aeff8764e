package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// look holds the arguments of state.
type look struct {
	Ranks  []int  `json:"ranks,omitempty" jsonschema:"ranks that are asked; all if left out"`
	Tensor string `json:"tensor,omitempty" jsonschema:"an expression whose value is a tensor: its statistics are calculated on the device, once no cell runs"`
}

// state is the answer to state: see session.State.
type state struct {
	Processes  []process            `json:"processes"`
	Variables  []variable           `json:"variables"`
	Differ     []string             `json:"differ" jsonschema:"names of the variables that are not equal on all ranks"`
	Streams    []stream             `json:"streams,omitempty"`
	Groups     []group              `json:"groups,omitempty"`
	Words      []word               `json:"words,omitempty" jsonschema:"words of signal pads that are not 0"`
	Waits      []wait               `json:"waits,omitempty" jsonschema:"calls that wait"`
	Kernels    []busy               `json:"kernels,omitempty" jsonschema:"kernels of cells that have run for a while"`
	Unknown    []int                `json:"unknown,omitempty" jsonschema:"ranks whose groups and words are not known now: a stream's queue is full"`
	Statistics []console.Statistics `json:"statistics,omitempty" jsonschema:"of the tensor"`
	Sanitizer  bool                 `json:"sanitizer" jsonschema:"kernels of all cells are watched"`
	Errors     []failure            `json:"errors,omitempty"`
	LeftOut    string               `json:"left_out,omitempty"`
}

// process describes a rank's process.
type process struct {
	Rank     int    `json:"rank"`
	Host     string `json:"host"`
	Device   string `json:"device"`
	State    string `json:"state" jsonschema:"idle, running, waiting, stopped, starting or dead"`
	Doing    string `json:"doing,omitempty"`
	Replaced int    `json:"replaced,omitempty" jsonschema:"cell in which the process was replaced, so that earlier definitions are lost"`
}

// variable is a variable that is equal on ranks.
type variable struct {
	Ranks  []int  `json:"ranks"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Bytes  int64  `json:"bytes"`
	Value  string `json:"value" jsonschema:"shortened"`
	DType  string `json:"dtype,omitempty"`
	Shape  []int  `json:"shape,omitempty"`
	Memory string `json:"memory,omitempty" jsonschema:"of a tensor: symmetric, ordinary, of rank N, or freed"`
}

type stream struct {
	Ranks []int `json:"ranks"`
	session.StreamInfo
}

type group struct {
	Ranks []int `json:"ranks"`
	session.GroupInfo
}

type word struct {
	Ranks []int `json:"ranks"`
	session.WordInfo
}

// wait is a call that waits on ranks.
type wait struct {
	Ranks []int   `json:"ranks"`
	Op    string  `json:"op"`
	Group string  `json:"group,omitempty"`
	Call  uint64  `json:"call,omitempty" jsonschema:"number of a collective call in its group"`
	Peers []int   `json:"peers,omitempty" jsonschema:"the awaited ranks"`
	For   string  `json:"for,omitempty"`
	Since float64 `json:"since" jsonschema:"seconds"`
	At    string  `json:"at,omitempty" jsonschema:"position of the call, such as cell[3]:7"`
}

// busy is a kernel that runs on ranks.
type busy struct {
	Ranks  []int   `json:"ranks"`
	Kernel string  `json:"kernel"`
	At     string  `json:"at,omitempty"`
	Spins  string  `json:"spins,omitempty" jsonschema:"the only memory that it reads, again and again"`
	Since  float64 `json:"since"`
}

// valueColumns is the width of values in state.
const valueColumns = 120

// state is the tool that describes all ranks.
func (c *client) state(ctx context.Context, r *sdk.CallToolRequest, q look) (*sdk.CallToolResult, state, error) {
	if q.Tensor != "" && c.ReadOnly {
		return nil, state{}, errors.New("tensor: the devices calculate statistics in a cell, and this server only looks: leave it out")
	}
	ranks, err := c.asked(q.Ranks)
	if err != nil {
		return nil, state{}, err
	}
	s, err := session.StateOf(ctx, c.console.Session, ranks, valueColumns)
	if err != nil {
		return nil, state{}, err
	}
	sanitizer, err := c.console.Session.Sanitizer(ctx)
	if err != nil {
		return nil, state{}, err
	}
	var o omissions
	out := state{
		Processes: processes(s.Ranks), Variables: []variable{}, Differ: append([]string{}, first(&o, "names", s.Differing())...),
		Unknown: s.Locked, Sanitizer: sanitizer.On, Errors: o.toFailures(s.Errors),
	}
	for _, v := range first(&o, "variables", s.Variables) {
		shown := variable{Ranks: v.Ranks, Name: v.Name, Type: o.text("a type", v.Type, maxText), Bytes: v.Size, Value: v.Value}
		if t := v.Tensor; t != nil {
			shown.DType, shown.Shape, shown.Memory = t.DType, t.Shape, t.Memory
		}
		out.Variables = append(out.Variables, shown)
	}
	for _, x := range first(&o, "streams", s.Streams) {
		out.Streams = append(out.Streams, stream{x.Ranks, x.Value})
	}
	for _, x := range first(&o, "groups", s.Groups) {
		x.Value.Signals = first(&o, "signals", x.Value.Signals)
		out.Groups = append(out.Groups, group{x.Ranks, x.Value})
	}
	for _, x := range first(&o, "words", s.Words) {
		out.Words = append(out.Words, word{x.Ranks, x.Value})
	}
	out.Waits = waits(&o, s)
	for _, x := range first(&o, "kernels", s.Busy) {
		out.Kernels = append(out.Kernels, busy{
			Ranks: x.Ranks, Kernel: x.Value.Kernel, At: x.Value.At, Spins: x.Value.Spins, Since: x.Value.Since,
		})
	}
	if q.Tensor != "" {
		err = c.tensors(ctx, r, q.Tensor, "", func(ctx context.Context, q console.Request, x, _ string) {
			var errs []*session.Error
			out.Statistics, errs = c.console.Statistics(ctx, q, ranks, x)
			out.Errors = append(out.Errors, o.toFailures(errs)...)
		})
	}
	out.LeftOut = o.String()
	return nil, out, err
}

func processes(infos []session.RankInfo) []process {
	list := []process{}
	for _, i := range infos {
		list = append(list, process{
			Rank: i.Rank, Host: i.Host, Device: i.Device, State: i.State, Doing: i.Doing, Replaced: i.Replaced,
		})
	}
	return list
}

func waits(o *omissions, s session.State) (list []wait) {
	for _, x := range first(o, "waits", s.Waits) {
		w := x.Value
		list = append(list, wait{
			Ranks: x.Ranks, Op: w.Op, Group: w.Group, Call: w.Ordinal, Peers: w.Peers, For: w.For, Since: w.Since, At: w.At,
		})
	}
	return list
}

// asked checks a list of ranks; nil, for all, if there is none.
func (c *client) asked(ranks []int) ([]int, error) {
	if len(ranks) == 0 {
		return nil, nil
	}
	for _, r := range ranks {
		if r < 0 || r >= c.console.Size {
			return nil, fmt.Errorf("ranks %v: ranks are 0 to %d", ranks, c.console.Size-1)
		}
	}
	return session.ParseRanks(strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ","), "[]"), c.console.Size)
}

// tensors calls work, which looks at tensors by cells, with a request and checked expressions.
func (c *client) tensors(ctx context.Context, r *sdk.CallToolRequest, x, y string,
	work func(ctx context.Context, q console.Request, x, y string)) error {
	for _, text := range []string{x, y} {
		if _, second, err := console.Expressions(text); text != "" && (err != nil || second != "") {
			return fmt.Errorf("%q is not one expression of Go", text)
		}
	}
	_, err := c.do(ctx, r, entry{}, func(ctx context.Context, q console.Request) { work(ctx, q, x, y) })
	return err
}

// pair holds the arguments of diff.
type pair struct {
	X string `json:"x" jsonschema:"an expression whose value is a tensor"`
	Y string `json:"y,omitempty" jsonschema:"another one of the same shape; if left out, x of each rank is compared with x of rank 0"`
}

// differences is the answer to diff.
type differences struct {
	Equal       bool                 `json:"equal" jsonschema:"on all ranks"`
	Differences []console.Difference `json:"differences"`
	Errors      []failure            `json:"errors,omitempty"`
	LeftOut     string               `json:"left_out,omitempty"`
}

// diff is the tool that compares tensors.
func (c *client) diff(ctx context.Context, r *sdk.CallToolRequest, p pair) (*sdk.CallToolResult, differences, error) {
	var o omissions
	d := differences{Differences: []console.Difference{}}
	err := c.tensors(ctx, r, p.X, p.Y, func(ctx context.Context, q console.Request, x, y string) {
		found, errs := c.console.Diff(ctx, q, nil, x, y)
		d.Equal = len(errs) == 0
		for _, one := range found {
			d.Equal = d.Equal && one.Differ == 0
		}
		d.Differences = append(d.Differences, first(&o, "differences", found)...)
		d.Errors = o.toFailures(errs)
	})
	d.LeftOut = o.String()
	return nil, d, err
}

// hung is the answer to hang.
type hung struct {
	Running bool      `json:"running" jsonschema:"a rank runs a cell"`
	Own     bool      `json:"own" jsonschema:"this client runs a cell, which interrupt ends"`
	Ranks   []process `json:"ranks"`
	Waits   []wait    `json:"waits" jsonschema:"calls that wait now"`
	Table   []row     `json:"table,omitempty" jsonschema:"the session's latest table of ranks that seem to wait in vain, in this client's cell"`
	LeftOut string    `json:"left_out,omitempty"`
}

// hang is the tool that reports the waits between ranks.
func (c *client) hang(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, hung, error) {
	s, err := session.StateOf(ctx, c.console.Session, nil, valueColumns)
	if err != nil {
		return nil, hung{}, err
	}
	var o omissions
	h := hung{Ranks: processes(s.Ranks), Waits: append([]wait{}, waits(&o, s)...)}
	for _, r := range s.Ranks {
		h.Running = h.Running || r.State == "running" || r.State == "waiting"
	}
	c.current.mu.Lock()
	if h.Own = c.current.cancel != nil; h.Own {
		h.Table = c.current.shown.hang()
	}
	c.current.mu.Unlock()
	h.LeftOut = o.String()
	return nil, h, nil
}

// benched holds the arguments of bench.
type benched struct {
	Ops   []string `json:"ops,omitempty" jsonschema:"names of operations, such as all_reduce; all if left out"`
	Sizes []int    `json:"sizes,omitempty" jsonschema:"message sizes in bytes; a few if left out"`
	DType string   `json:"dtype,omitempty" jsonschema:"f16, bf16, f32, f64, i32 or i64; bf16 if left out"`
}

// figures is the answer to bench.
type figures struct {
	Figures []map[string]any `json:"figures" jsonschema:"microseconds of each operation and size, from a graph and from calls one by one"`
	LeftOut string           `json:"left_out,omitempty"`
}

// bench is the tool that measures operations.
func (c *client) bench(ctx context.Context, r *sdk.CallToolRequest, b benched) (*sdk.CallToolResult, figures, error) {
	var out bytes.Buffer
	var failed error
	_, err := c.do(ctx, r, entry{}, func(ctx context.Context, _ console.Request) {
		failed = c.Bench(ctx, b.Ops, b.Sizes, b.DType, &out)
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, figures{}, err
	}
	list := []map[string]any{}
	for line := range strings.Lines(out.String()) {
		var figure map[string]any
		if json.Unmarshal([]byte(line), &figure) == nil {
			list = append(list, figure)
		}
	}
	var o omissions
	f := figures{Figures: first(&o, "figures", list)}
	f.LeftOut = o.String()
	return nil, f, nil
}
