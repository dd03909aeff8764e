package opbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/session"
)

// Options of a measurement.
type Options struct {
	Ops   []string // names of operations; empty: all
	Sizes []int    // message sizes in bytes; empty: a few that suit the device
	DType string   // one of DTypes
	Peers bool     // measure PyTorch, NCCL and NVSHMEM as well
	JSON  bool     // a line of JSON a figure instead of tables
	SVG   string   // a file for a chart of the operations that have sizes; "": none
	// Emulated reports whether the session's devices are emulated, so that less is measured.
	Emulated bool
}

// DTypes are the element types that can be measured, and their bytes.
var DTypes = map[string]int{"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4, "i64": 8}

// extent bounds the measurements on a device.
type extent struct {
	sizes                   []int
	copied                  int // bytes to each peer for the rate of a link; on a GPU enough to hide the start of copies
	put                     int // bytes of a put between hosts, of several in a row
	factor                  int // bytes of the largest matrix that is multiplied
	part, side              int // of Overlap: bytes of a rank's part, rows of a matrix
	weights                 int // of FSDP: bytes of a layer
	calls, replays, repeats int // calls in a graph, replays a time, times
}

// extentOf returns the extent for devices of a kind: emulated ones take longer.
func extentOf(emulated bool, sizes []int) extent {
	e := extent{
		sizes: []int{4 << 10, 256 << 10}, copied: 1 << 20, put: 1 << 20, factor: 32 << 10, part: 256 << 10, side: 128, weights: 16 << 10,
		calls: 4, replays: 2, repeats: 3,
	}
	if !emulated {
		e = extent{
			sizes: []int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20}, copied: 64 << 20, put: 8 << 20, factor: 256 << 20,
			part: 64 << 20, side: 8192, weights: 32 << 20,
			calls: 20, replays: 5, repeats: 7,
		}
	}
	if len(sizes) > 0 {
		e.sizes = sizes
	}
	return e
}

// run is a measurement in a session.
type run struct {
	ctx     context.Context
	session session.Session
	ranks   int
	device  string
	extent  extent
	cells   int // run so far
	o       Options
	out     io.Writer
	bounds  bounds
	world   world
	shared  [][]int  // the ranks of each device that several ranks use
	missing []string // peers that could not be measured at all, and why
}

// start reads the properties of the session and measures its limits.
func start(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) (*run, error) {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return nil, err
	}
	device := infos[0].Device
	r := &run{ctx: ctx, session: s, ranks: ranks, device: device, extent: extentOf(o.Emulated, o.Sizes), shared: sharedOf(infos),
		o: o, out: out}
	if r.shared != nil { // every meeting takes milliseconds
		r.extent.calls, r.extent.replays, r.extent.repeats = 4, 2, 3
	}
	var limits []Figure
	for _, cell := range strings.Split(program, "// %%\n") {
		found, err := r.cell(cell)
		if err != nil {
			return nil, err
		}
		limits = append(limits, found...)
	}
	for _, f := range limits {
		if f.Op == "world" {
			r.world = f.world
		}
	}
	if r.world.spans() && o.Peers {
		return nil, errors.New("--peers measures others within a host: leave it or --hosts out")
	}
	r.bounds = boundsOf(limits, ranks, r.extent)
	return r, nil
}

// sharedOf returns the ranks of each device that several ranks share.
func sharedOf(infos []session.RankInfo) (shared [][]int) {
	for _, i := range infos {
		if len(i.Sharers) > 0 && i.Sharers[0] == i.Rank {
			shared = append(shared, i.Sharers)
		}
	}
	return shared
}

// remarks returns remarks about all figures: missing peers, and the meaning of figures on shared
// devices.
func (r *run) remarks() []string {
	var words []string
	for _, ranks := range r.shared {
		words = append(words, session.FormatRanks(ranks))
	}
	if words == nil {
		return r.missing
	}
	warning := fmt.Sprintf("not comparable with devices of their own: the ranks %s use the same one, and their kernels wait for each other's turns", strings.Join(words, " and "))
	return append(slices.Clone(r.missing), warning)
}

// Run measures operations in a session and prints each as soon as it is measured, after all
// measurements of peers.
func Run(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	var picture *wholefile.File
	if o.SVG != "" { // fail before hours of measuring, not after
		f, err := wholefile.Create(o.SVG)
		if err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
		defer f.Abort()
		picture = f
	}
	r, err := start(ctx, s, ranks, o, out)
	if err != nil {
		return err
	}
	var chosen []op
	for _, x := range ops {
		if len(o.Ops) == 0 || slices.Contains(o.Ops, x.name) {
			chosen = append(chosen, x)
		}
	}
	var theirs []Figure
	if o.Peers {
		var names []string
		for _, x := range chosen {
			names = append(names, x.name)
		}
		theirs = r.peers(names, r.extent.sizes)
	}
	if err := r.header(); err != nil {
		return err
	}
	var tables []table
	for i := range chosen {
		figures, err := r.measure(&chosen[i])
		if err != nil {
			return err
		}
		t := r.tableOf(&chosen[i], append(figures, theirs...))
		if err := r.print(&t); err != nil {
			return err
		}
		tables = append(tables, t)
	}
	if picture != nil {
		if _, err := picture.WriteString(drawn(tables, r.bounds)); err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
		return picture.Commit()
	}
	return nil
}

// measure runs the cells of an operation and returns, for every message, the maximum over ranks.
func (r *run) measure(x *op) ([]Figure, error) {
	var figures []Figure
	for _, n := range x.bytes(r.extent) {
		found, err := r.cell(x.cell(r.world, r.ranks, DTypes[r.o.DType], n))
		if err != nil {
			return nil, err
		}
		figures = append(figures, found...)
	}
	return figures, nil
}
