package opbench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// row is what is told of an operation and a message. Bandwidths are in GB/s, by the definitions of nccl-tests.
type row struct {
	Figure
	Limit  float64           `json:"limit_us,omitempty"` // an empty kernel, half a round trip and the bytes at the link's rate
	Alg    float64           `json:"alg_gbps,omitempty"`
	Bus    float64           `json:"bus_gbps,omitempty"`
	OfLink float64           `json:"of_link,omitempty"` // Bus over the measured rate of copies to all peers
	Peers  map[string]Figure `json:"peers,omitempty"`
	Ratio  float64           `json:"ratio,omitempty"` // to the best peer
}

// bounds are the limits of the machine.
type bounds struct{ empty, bounce, link float64 } // us, us, GB/s

func boundsOf(figures []Figure, ranks, copied int) bounds {
	var b bounds
	for _, f := range figures {
		switch f.Op {
		case "empty":
			b.empty = f.Graph
		case "bounce":
			b.bounce = f.Graph
		case "copy":
			b.link = float64(copied) * float64(ranks-1) / f.Eager / 1e3
		}
	}
	return b
}

// peerNames are the columns of the tables, if there is a figure.
var peerNames = []string{"PyTorch", "NCCL", "NVSHMEM"}

// rowOf gathers what was measured of x with a message of n bytes; false if it was not.
func rowOf(x *op, n, ranks int, b bounds, figures []Figure) (row, bool) {
	r := row{Peers: map[string]Figure{}}
	best := 0.0
	for _, f := range figures {
		switch {
		case f.Op != x.name || f.Bytes != n:
		case f.By == "":
			r.Figure = f
		default: // PyTorch may do the same in several ways
			if old, ok := r.Peers[f.By]; !ok || f.best() < old.best() {
				r.Peers[f.By] = f
			}
			if best == 0 || f.best() < best {
				best = f.best()
			}
		}
	}
	if r.Graph == 0 {
		return r, false
	}
	if best > 0 {
		r.Ratio = r.Graph / best
	}
	if !x.word && b.link > 0 {
		p := float64(ranks)
		r.Limit = b.empty + b.bounce/2 + float64(n)*x.sent(p)/b.link/1e3
		r.Alg = float64(n) / r.Graph / 1e3
		r.Bus = r.Alg * x.bus(p)
		r.OfLink = r.Bus / b.link
	}
	return r, true
}

// printJSON writes a line for the limits and one for every row.
func printJSON(out io.Writer, device string, ranks int, dtype string, e extent, chosen []op, figures []Figure) error {
	b := boundsOf(figures, ranks, e.copied)
	w := json.NewEncoder(out)
	if err := w.Encode(map[string]any{"device": device, "ranks": ranks, "dtype": dtype, "empty_us": b.empty, "round_trip_us": b.bounce, "link_gbps": b.link}); err != nil {
		return err
	}
	for i := range chosen {
		for _, n := range chosen[i].bytes(e.sizes) {
			if r, ok := rowOf(&chosen[i], n, ranks, b, figures); ok {
				if err := w.Encode(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// printTables writes the limits and a table for each operation.
func printTables(out io.Writer, device string, ranks int, dtype string, e extent, chosen []op, figures []Figure) error {
	b := boundsOf(figures, ranks, e.copied)
	fmt.Fprintf(out, "%s, %d ranks, %s; empty kernel in a graph %.2f us, flag round trip %.2f us, copies to all peers %.1f GB/s\n", device, ranks, dtype, b.empty, b.bounce, b.link)
	fmt.Fprintln(out, "bytes: the larger of a rank's input and output; us a call; limit: empty kernel + half a round trip + bytes sent / copies' rate; bandwidths in GB/s, of graphs")
	for i := range chosen {
		x := &chosen[i]
		var rows []row
		peers := map[string]bool{}
		for _, n := range x.bytes(e.sizes) {
			if r, ok := rowOf(x, n, ranks, b, figures); ok {
				rows = append(rows, r)
				for by := range r.Peers {
					peers[by] = true
				}
			}
		}
		fmt.Fprintf(out, "\n%s\n", x.name)
		if len(rows) == 0 {
			fmt.Fprintf(out, "  not measured: it needs %s\n", x.when)
			continue
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(w, "bytes\tlimit\tgraph\teager\talg\tbus\tof link\t")
		for _, by := range peerNames {
			if peers[by] {
				fmt.Fprintf(w, "%s graph\t%s eager\t", by, by)
			}
		}
		if len(peers) > 0 {
			fmt.Fprint(w, "ratio\t")
		}
		fmt.Fprintln(w)
		for _, r := range rows {
			fmt.Fprintln(w, strings.Join(r.cells(peers), "\t")+"\t")
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// cells is the row of a table that has columns for some peers.
func (r *row) cells(peers map[string]bool) []string {
	cells := []string{fmt.Sprint(r.Bytes)}
	for _, x := range []float64{r.Limit, r.Graph, r.Eager, r.Alg, r.Bus, r.OfLink} {
		cells = append(cells, figure(x))
	}
	for _, by := range peerNames {
		if peers[by] {
			cells = append(cells, figure(r.Peers[by].Graph), figure(r.Peers[by].Eager))
		}
	}
	if len(peers) > 0 {
		cells = append(cells, figure(r.Ratio))
	}
	return cells
}

func figure(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
