package opbench

import (
	"strings"
	"testing"
)

// A row names its switch and its call, and a column its unit. Figures of the same call share a row.
func TestTokensTable(t *testing.T) {
	of := func(way string, tokens int) Figure {
		var f Figure
		f.Way = way
		f.switched = switched{Tokens: tokens, Routing: 10, Dispatched: 30, Combined: 45, DispatchEvents: 21, CombineEvents: 16,
			Selected: 1e6, DispatchWire: 5e5, CombineWire: 2e5}
		return f
	}
	var out strings.Builder
	r := &run{ranks: 4, device: "cpu", out: &out, bounds: bounds{empty: 1, bounce: 2, copies: 10}}
	if err := r.printTokens(tokenExtent{hidden: 256, experts: 16, top: 4},
		[]Figure{of("low_latency expert_major", 8), of("low_latency rank_major", 8), of("low_latency expert_major", 8)}); err != nil {
		t.Fatal(err)
	}
	const want = `
dispatch
                    mode and layout  tokens a rank  routing us  limit us  graph us  events us  selections GB/s  wire GB/s  routing + dispatch + combine us
  dispatch low_latency expert_major              8       10.00     52.00     20.00      21.00            50.00      25.00                            45.00
    dispatch low_latency rank_major              8       10.00     52.00     20.00      21.00            50.00      25.00                            45.00

combine
                   mode and layout  tokens a rank  routing us  limit us  graph us  events us  selections GB/s  wire GB/s  routing + dispatch + combine us
  combine low_latency expert_major              8       10.00     22.00     15.00      16.00            66.67      13.33                            45.00
    combine low_latency rank_major              8       10.00     22.00     15.00      16.00            66.67      13.33                            45.00
`
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s, want at its end%s", out.String(), want)
	}
}

// Between hosts the first line has the network in place of the links.
func TestTokensTableOverHosts(t *testing.T) {
	var out strings.Builder
	r := &run{ranks: 4, device: "cpu", out: &out, bounds: bounds{empty: 1, bounce: 2, puts: 10},
		world: world{Parts: [][]int{{0, 1}, {2, 3}}, Between: "the null network"}}
	if err := r.printTokens(tokenExtent{hidden: 256, experts: 16, top: 4}, nil); err != nil {
		t.Fatal(err)
	}
	const want = "cpu, 4 ranks on 2 hosts, tokens of bf16[256], top-4 of 16 experts; empty kernel in a graph 1.00 us, " +
		"signal to another host and back 2.00 us, puts of every rank over the null network 10.00 GB/s"
	if got, _, _ := strings.Cut(out.String(), "\n"); got != want {
		t.Errorf("the first line is %q, want %q", got, want)
	}
}
