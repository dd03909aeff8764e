package opbench

import (
	"fmt"
	"math"

	"github.com/symmrepl/symmrepl/chart"
)

// drawn returns a picture with two charts in a row for each operation that has sizes: microseconds
// and bandwidth over the message's size, with the peers and the limits.
func drawn(tables []table, b bounds) string {
	var charts []*chart.Chart
	for i := range tables {
		if t := &tables[i]; len(t.rows) > 0 && t.op.kind != word {
			charts = append(charts, t.times(), t.bandwidths(b))
		}
	}
	if len(charts) == 0 { // nothing could be measured here
		charts = []*chart.Chart{{Title: "nothing was measured"}, nil}
	}
	return chart.Page(2, charts...)
}

// times draws microseconds over bytes.
func (t *table) times() *chart.Chart {
	names := []string{"graph", "eager", "limit"}
	of := []func(*row) float64{func(r *row) float64 { return r.Graph }, func(r *row) float64 { return r.Eager },
		func(r *row) float64 { return r.Limit }}
	for _, name := range ways {
		names = append(names, name)
		of = append(of, func(r *row) float64 { return r.Ways[name].Graph })
	}
	for _, by := range peerNames {
		names = append(names, by)
		of = append(of, func(r *row) float64 { return r.Peers[by].usual() })
	}
	c := t.over(names, of)
	c.Title, c.Y, c.LogY = t.op.name, "us a call", true
	return c
}

// bandwidths draws, over bytes, the bandwidth of the busiest link with the link's limit, or the
// bandwidth of the algorithm if nothing crosses a link; for a product, operations per second. It
// returns nil for an operation that moves nothing, and over hosts.
func (t *table) bandwidths(b bounds) *chart.Chart {
	if t.op.kind == eager || b.puts > 0 {
		return nil
	}
	own, y := func(r *row) float64 { return r.Bus }, "bus bandwidth, GB/s"
	switch {
	case t.op.kind == product:
		own, y = func(r *row) float64 { return r.TFlops }, "TFLOP/s"
	case t.op.sent == nil:
		own, y = func(r *row) float64 { return r.Alg }, "GB/s"
	}
	names, of := []string{"symmrepl"}, []func(*row) float64{own}
	if t.op.sent != nil {
		names, of = append(names, "link"), append(of, func(*row) float64 { return b.link() })
	}
	for _, by := range peerNames {
		names = append(names, by)
		of = append(of, func(r *row) float64 { return own(r) * r.usual() / r.Peers[by].usual() }) // infinite where the peer has none
	}
	c := t.over(names, of)
	c.Title, c.Y, c.LogY = t.op.name, y, true
	return c
}

// over draws series of the rows over their bytes, without rows that have no number.
func (t *table) over(names []string, of []func(*row) float64) *chart.Chart {
	var at []int
	var marks []string
	for _, r := range t.rows {
		at, marks = append(at, r.Bytes), append(marks, size(r.Bytes))
	}
	var kept []string
	var series []any
	for i, f := range of {
		values, some := make([]float64, len(t.rows)), false
		for j := range t.rows {
			values[j] = f(&t.rows[j])
			if values[j] == 0 || math.IsNaN(values[j]) {
				values[j] = math.Inf(1) // not drawn
			}
			some = some || !math.IsInf(values[j], 1)
		}
		if some {
			kept, series = append(kept, names[i]), append(series, values)
		}
	}
	c := chart.Over(at, series...)
	c.X, c.LogX, c.Names, c.Marks = "bytes", true, kept, marks
	return c
}

// size formats a number of bytes: "64K".
func size(n int) string {
	for _, unit := range []string{"", "K", "M"} {
		if n%1024 != 0 {
			return fmt.Sprint(n, unit)
		}
		n /= 1024
	}
	return fmt.Sprint(n, "G")
}
