package opbench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// row is the result for an operation and a message size. Bandwidths are in GB/s, by the definitions
// of nccl-tests.
type row struct {
	Figure
	Limit  float64 `json:"limit_us,omitempty"` // an empty kernel, half a round trip and the bytes at the link's rate
	Alg    float64 `json:"alg_gbps,omitempty"`
	Bus    float64 `json:"bus_gbps,omitempty"`
	OfLink float64 `json:"of_link,omitempty"` // Bus over the link's measured rate
	TFlops float64 `json:"tflops,omitempty"`  // of a product
	// over hosts: the bytes that a rank sends at least, at the time, over the network's measured rate
	OfNet float64           `json:"of_network,omitempty"`
	Ways  map[string]way    `json:"ways,omitempty"` // over hosts
	Peers map[string]Figure `json:"peers,omitempty"`
	Ratio float64           `json:"ratio,omitempty"` // time over the best peer's
}

// way is the result for a way over hosts, in microseconds.
type way struct {
	Limit float64 `json:"limit_us"` // as a row's, with the bytes that this way sends
	Graph float64 `json:"graph_us"`
	Eager float64 `json:"eager_us"`
}

// table is the result for an operation.
type table struct {
	op    *op
	rows  []row
	notes []string // which peers could not be measured, and why
}

// bounds are the limits of the machine: microseconds, and GB/s from a device to all peers. Over
// hosts, bounce is a round trip to another host, and puts is the rate at which a rank sends there
// while all do.
type bounds struct{ empty, bounce, copies, stores, puts float64 }

// link returns the higher of the rates of copy engines and of stores. Which of them fills the links
// depends on the host.
func (b bounds) link() float64 { return max(b.copies, b.stores) }

// across returns the limit of a message that a rank sends several times to other hosts.
func (b bounds) across(n int, sent float64) float64 {
	return b.empty + b.bounce/2 + float64(n)*sent/b.puts/1e3
}

func boundsOf(figures []Figure, ranks int, e extent) bounds {
	var b bounds
	rate := func(us float64) float64 { return float64(e.copied) * float64(ranks-1) / us / 1e3 }
	for _, f := range figures {
		switch f.Op {
		case "empty":
			b.empty = f.Graph
		case "bounce":
			b.bounce = f.Graph
		case "copy":
			b.copies = rate(f.Eager)
		case "store":
			b.stores = rate(f.Eager)
		case "puts":
			b.puts = float64(e.put) / f.Eager / 1e3
		}
	}
	return b
}

// viaNCCL names NCCL called by symmrepl; "NCCL" is NCCL called by PyTorch.
const viaNCCL = "Via NCCL"

// deviceAPI names a kernel of NCCL's device API, which is no peer.
const deviceAPI = "device API"

// peerNames are the columns of peers, in order; columns without a figure are left out.
var peerNames = []string{deviceAPI, viaNCCL, "PyTorch", "NCCL", "NVSHMEM"}

// tableOf returns the table of x.
func (r *run) tableOf(x *op, figures []Figure) table {
	t := table{op: x}
	for _, n := range x.bytes(r.extent) {
		if row, ok := rowOf(x, n, r.ranks, r.world, r.bounds, figures); ok {
			if x.kind == product {
				row.TFlops = 2 * math.Pow(float64(sideOf(elements(r.ranks, DTypes[r.o.DType], n))), 3) / row.usual() / 1e6
			}
			t.rows = append(t.rows, row)
		}
	}
	for _, f := range figures {
		note := fmt.Sprintf("%s: %s", f.By, f.Error)
		if f.Op == x.name && f.Error != "" && !slices.Contains(t.notes, note) {
			t.notes = append(t.notes, note)
		}
	}
	return t
}

// rowOf returns the row of x for a message of n bytes; false if it was not measured.
func rowOf(x *op, n, ranks int, w world, b bounds, figures []Figure) (row, bool) {
	r := row{Peers: map[string]Figure{}, Ways: map[string]way{}}
	best := 0.0
	for _, f := range figures {
		switch {
		case f.Op != x.name || f.Bytes != n:
		case f.Way != "":
			r.Ways[f.Way] = way{Graph: f.Graph, Eager: f.Eager}
		case f.By == "":
			r.Figure = f
		case f.best() > 0: // PyTorch may have several ways to do the same
			if old, ok := r.Peers[f.By]; !ok || f.best() < old.best() {
				r.Peers[f.By] = f
			}
			if f.By != deviceAPI && (best == 0 || f.best() < best) {
				best = f.best()
			}
		}
	}
	us := r.usual()
	if us == 0 {
		return r, false
	}
	if best > 0 {
		r.Ratio = us / best
	}
	switch {
	case x.kind != usual:
	case w.spans() && x.across != nil && b.puts > 0:
		r.Alg = float64(n) / us / 1e3
		r.Bus = r.Alg * x.bus(float64(ranks))
		flat, hierarchical := x.across(float64(ranks), float64(len(w.Parts)), float64(w.least()))
		sent := map[string]float64{"flat": flat, "hierarchical": hierarchical}
		least := math.Inf(1)
		for name, of := range r.Ways {
			of.Limit = b.across(n, sent[name])
			r.Ways[name] = of
			least = min(least, sent[name])
		}
		r.Limit = b.across(n, least)
		r.OfNet = float64(n) * least / us / 1e3 / b.puts
	case x.sent == nil || w.spans():
		r.Alg = float64(n) / us / 1e3
	case b.link() > 0:
		p := float64(ranks)
		r.Limit = b.empty + b.bounce/2 + float64(n)*x.sent(p)/b.link()/1e3
		r.Alg = float64(n) / us / 1e3
		r.Bus = r.Alg * x.bus(p)
		r.OfLink = r.Bus / b.link()
	}
	return r, true
}

// header prints the facts that hold for all tables.
func (r *run) header() error {
	b := r.bounds
	facts := map[string]any{"empty_us": b.empty, "round_trip_us": b.bounce}
	lines := []string{
		"bytes: the larger of a rank's input and output; us a call; limit: empty kernel + half a round trip + bytes sent / the quicker rate; bandwidths in GB/s, of graphs",
	}
	if r.world.spans() {
		facts["parts"], facts["between"], facts["network_gbps"] = r.world.Parts, r.world.Between, b.puts
		lines = []string{
			"bytes: the larger of a rank's input and output; us a call, of the way that is chosen and of each; limit: empty kernel + half a round trip + bytes that a rank sends to other hosts / the puts' rate,",
			"of the way that sends least and of each; bandwidths in GB/s, of graphs; of network: those bytes / the time / the puts' rate",
		}
	} else {
		facts["link_gbps"] = b.link()
	}
	return r.begin(facts, r.o.DType+"; "+r.bounded(), lines...)
}

// print prints a table, or a line of JSON for every row.
func (r *run) print(t *table) error {
	if r.o.JSON {
		if err := encode(r.out, t.rows); err != nil {
			return err
		}
		var notes []map[string]string
		for _, note := range t.notes {
			notes = append(notes, map[string]string{"op": t.op.name, "not_measured": note})
		}
		return encode(r.out, notes)
	}
	s := t.sheet()
	switch {
	case len(t.rows) > 0:
	case t.op.refused(r.world) != "":
		s.notes = []string{"not measured: it needs " + t.op.refused(r.world)}
	case t.op.needs.words != "":
		s.notes = []string{"not measured: it needs " + t.op.needs.words}
	default:
		s.notes = []string{fmt.Sprintf("not measured beyond %d bytes on this device", r.extent.factor)}
	}
	s.notes = append(s.notes, t.notes...)
	return s.write(r.out)
}

// column is a column of a table: its name, and the text of a row in it.
type column struct {
	name string
	of   func(*row) float64
}

// columnsOf returns the columns of a table after the first.
func columnsOf(t *table) []column {
	all := []column{
		{"limit", func(r *row) float64 { return r.Limit }},
		{"graph", func(r *row) float64 { return r.Graph }},
		{"eager", func(r *row) float64 { return r.Eager }},
		{"alg", func(r *row) float64 { return r.Alg }},
		{"bus", func(r *row) float64 { return r.Bus }},
		{"of link", func(r *row) float64 { return r.OfLink }},
		{"of network", func(r *row) float64 { return r.OfNet }},
		{"TFLOP/s", func(r *row) float64 { return r.TFlops }},
	}
	for _, name := range ways {
		all = append(all, column{name + " limit", func(r *row) float64 { return r.Ways[name].Limit }},
			column{name + " graph", func(r *row) float64 { return r.Ways[name].Graph }},
			column{name + " eager", func(r *row) float64 { return r.Ways[name].Eager }})
	}
	for _, by := range peerNames {
		all = append(all, column{by + " graph", func(r *row) float64 { return r.Peers[by].Graph }},
			column{by + " eager", func(r *row) float64 { return r.Peers[by].Eager }})
	}
	all = append(all, column{"ratio", func(r *row) float64 { return r.Ratio }})
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(t.rows, func(r row) bool { return c.of(&r) != 0 })
	})
}

func (t *table) sheet() sheet {
	columns := columnsOf(t)
	s := sheet{title: t.op.name, columns: []string{"bytes"}}
	for _, c := range columns {
		s.columns = append(s.columns, c.name)
	}
	for i := range t.rows {
		row := []string{strconv.Itoa(t.rows[i].Bytes)}
		for _, c := range columns {
			row = append(row, figure(c.of(&t.rows[i])))
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// figure formats a number with two digits after the point, or three significant ones.
func figure(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x < 0.1:
		return fmt.Sprintf("%.3g", x)
	}
	return fmt.Sprintf("%.2f", x)
}
