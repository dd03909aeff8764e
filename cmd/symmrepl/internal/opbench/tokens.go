package opbench

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed tokens.go.cell
var tokensProgram string

// switched is the result for a token switch: microseconds of the slowest rank, and bytes of the
// rank that sends most.
type switched struct {
	Tokens         int     `json:"tokens,omitempty"` // of a rank
	Routing        float64 `json:"routing_us,omitempty"`
	Dispatched     float64 `json:"with_dispatch_us,omitempty"` // both, in a graph
	Combined       float64 `json:"all_us,omitempty"`           // all three, in a graph
	DispatchEvents float64 `json:"dispatch_events_us,omitempty"`
	CombineEvents  float64 `json:"combine_events_us,omitempty"`
	Selected       float64 `json:"selected_bytes,omitempty"` // of the selections that are not masked, as tokens
	DispatchWire   float64 `json:"dispatch_wire_bytes,omitempty"`
	CombineWire    float64 `json:"combine_wire_bytes,omitempty"`
}

// tokenCase is a switch to measure.
type tokenCase struct {
	mode, layout, payload string
	tokens, maxRecv       int
}

// tokenExtent is the extent of the measurement: cases, and their common sizes.
type tokenExtent struct {
	hidden, experts, top int
	cases                []tokenCase
}

// tokensOf returns the extent for devices of a kind.
func tokensOf(emulated bool, ranks int) tokenExtent {
	few, many, e := 128, 4096, tokenExtent{hidden: 7168, experts: 64 * ranks, top: 8}
	if emulated {
		few, many, e = 8, 16, tokenExtent{hidden: 256, experts: 4 * ranks, top: 4}
	}
	if !emulated && ranks <= 4 {
		e.experts = 256
		for e.experts%ranks != 0 {
			e.experts++
		}
	}
	e.cases = []tokenCase{
		{mode: "low_latency", layout: "expert_major", tokens: few},
		{mode: "low_latency", layout: "expert_major", payload: "F8E4M3", tokens: few},
		{mode: "low_latency", layout: "rank_major", tokens: few},
		{mode: "low_latency", layout: "expert_major", tokens: 8},
		{mode: "high_throughput", layout: "flat", tokens: many, maxRecv: many * ranks},
		{mode: "high_throughput", layout: "expert_major", tokens: many, maxRecv: 2 * many * e.top},
	}
	return e
}

// TokenSwitch measures the routing, the dispatch and the combine of a token switch in each of its
// layouts: in graphs, and between events around each call.
func TokenSwitch(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	o.DType = "bf16"
	r, err := start(ctx, s, ranks, o, out)
	if err != nil {
		return err
	}
	e := tokensOf(o.Emulated, ranks)
	var figures []Figure
	for i, c := range e.cases {
		source := strings.NewReplacer("MODE", strconv.Quote(c.mode), "LAYOUT", strconv.Quote(c.layout), "PAYLOAD",
			payloadOf(c.payload), "TOKENS", strconv.Itoa(c.tokens),
			"MAXRECV", strconv.Itoa(c.maxRecv), "HIDDEN", strconv.Itoa(e.hidden), "EXPERTS", strconv.Itoa(e.experts), "TOP",
			strconv.Itoa(e.top)).Replace(tokensProgram)
		found, err := r.cell(source)
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.Way = c.mode + " " + c.layout; c.payload != "" {
				f.Way += " f8e4m3"
			}
			f.Bytes = i
			figures = append(figures, f)
		}
	}
	return r.printTokens(e, figures)
}

func payloadOf(name string) string {
	if name == "" {
		return "symm.BF16"
	}
	return "symm." + name
}

// printTokens writes a table of dispatches and one of combines, or a line of JSON for each case.
func (r *run) printTokens(e tokenExtent, figures []Figure) error {
	facts := map[string]any{"hidden": e.hidden, "experts": e.experts, "top": e.top}
	leaves, rate := "a rank", "the quicker rate"
	if r.world.spans() {
		facts["parts"], facts["between"], facts["network_gbps"] = r.world.Parts, r.world.Between, r.bounds.puts
		leaves, rate = "a rank for other hosts", "the puts' rate"
	} else {
		facts["link_gbps"] = r.bounds.link()
	}
	if err := r.begin(facts, fmt.Sprintf("tokens of bf16[%d], top-%d of %d experts; %s", e.hidden, e.top, e.experts, r.bounded()),
		"a row is one call of a switch, which has the Mode, the Layout and, for f8e4m3, the Payload of its name",
		"us a call: routing, that call in a graph; graph, what the call adds to a captured routing (and dispatch); events, the mean of single calls between events; limit: an empty kernel, half a",
		fmt.Sprintf("round trip and the bytes that leave %s / %s; GB/s of graphs, by the bytes of the selections that are not masked, and by those that leave %[1]s", leaves, rate),
	); err != nil {
		return err
	}
	if r.o.JSON {
		type line struct {
			Op  string `json:"op"`
			Way string `json:"way"`
			switched
		}
		var lines []line
		for _, f := range figures {
			lines = append(lines, line{f.Op, f.Way, f.switched})
		}
		return encode(r.out, lines)
	}
	for _, part := range []struct {
		name string
		of   func(s *switched) (us, events, wire float64)
	}{
		{"dispatch", func(s *switched) (us, events, wire float64) {
			return s.Dispatched - s.Routing, s.DispatchEvents, s.DispatchWire
		}},
		{"combine", func(s *switched) (us, events, wire float64) {
			return s.Combined - s.Dispatched, s.CombineEvents, s.CombineWire
		}},
	} {
		table := sheet{title: part.name, columns: []string{"mode and layout", "tokens a rank", "routing us", "limit us", "graph us", "events us",
			"selections GB/s", "wire GB/s", "routing + dispatch + combine us"}}
		for i := range figures {
			s := &figures[i].switched
			if slices.ContainsFunc(figures[:i], func(f Figure) bool { return f.Way == figures[i].Way && f.Tokens == s.Tokens }) {
				continue // the same row again
			}
			us, events, wire := part.of(s)
			limit := 0.0
			switch {
			case r.world.spans():
				limit = r.bounds.across(int(wire), 1)
			case r.bounds.link() > 0:
				limit = r.bounds.empty + r.bounds.bounce/2 + wire/r.bounds.link()/1e3
			}
			rate := func(bytes float64) string {
				if us <= 0 { // lost in noise
					return figure(0)
				}
				return figure(bytes / us / 1e3)
			}
			table.rows = append(table.rows, []string{part.name + " " + figures[i].Way, strconv.Itoa(s.Tokens), figure(s.Routing),
				figure(limit), figure(max(us, 0)), figure(events), rate(s.Selected), rate(wire), figure(s.Combined)})
		}
		if err := table.write(r.out); err != nil {
			return err
		}
	}
	return nil
}
