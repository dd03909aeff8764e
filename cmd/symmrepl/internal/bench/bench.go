package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// Sizes of the measurements.
const (
	warmCells  = 200
	timedCells = 2000
	printBytes = 100 << 20 // by each rank
	lineBytes  = 64
	edits      = 5
)

// Session starts a session by calling open, measures it, prints a table to out and closes it. If
// open returns none, because this process serves another's session, there is nothing to measure.
func Session(ctx context.Context, open func(context.Context) (session.Session, error), out io.Writer) error {
	begin := time.Now()
	s, err := open(ctx)
	if s == nil || err != nil {
		return err
	}
	defer s.Close()
	b := &bench{ctx: ctx, session: s, table: tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)}
	if err := b.run("x := 1"); err != nil {
		return err
	}
	started := time.Since(begin)
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %s\n", session.FormatSize(len(infos)), infos[0].Device)
	b.row("start to the first reply", "%.0f ms", milliseconds(started))
	if err := errors.Join(b.cells(), b.prints(), b.kernels()); err != nil {
		return err
	}
	return b.table.Flush()
}

type bench struct {
	ctx     context.Context
	session session.Session
	table   *tabwriter.Writer
}

func (b *bench) row(what, format string, args ...any) {
	fmt.Fprintf(b.table, "%s\t%s\n", what, fmt.Sprintf(format, args...))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// run evaluates a cell that must succeed.
func (b *bench) run(source string) error { return b.runTo(source, nil) }

func (b *bench) runTo(source string, output func(session.Output)) error {
	reply := b.session.Eval(b.ctx, session.Cell{Source: source, Silent: true, Output: output})
	if len(reply.Errors) > 0 {
		return reply.Errors[0]
	}
	return nil
}

// cells measures the latency of the smallest cell.
func (b *bench) cells() error {
	times, err := b.trips()
	if err != nil {
		return err
	}
	at := func(q float64) float64 { return milliseconds(times[int(q*float64(len(times)-1))]) }
	b.row("cell x := 1", "%.3f ms median, %.3f ms p99", at(0.5), at(0.99))
	return nil
}

// trips returns the sorted times of round trips of the smallest cell.
func (b *bench) trips() ([]time.Duration, error) {
	times := make([]time.Duration, 0, timedCells)
	for i := range warmCells + timedCells {
		begin := time.Now()
		if err := b.run("x := 1"); err != nil {
			return nil, err
		}
		if i >= warmCells {
			times = append(times, time.Since(begin))
		}
	}
	slices.Sort(times)
	return times, nil
}

// prints measures how fast output of all ranks arrives folded, and by how much processes grow.
func (b *bench) prints() error {
	before, err := b.resident()
	if err != nil {
		return err
	}
	arrived := 0
	begin := time.Now()
	err = b.runTo(fmt.Sprintf(`line := strings.Repeat("x", %d)
for i := 0; i < %d; i++ {
	fmt.Println(line)
}`, lineBytes-1, printBytes/lineBytes), func(o session.Output) {
		arrived += len(o.Text) * len(o.Ranks)
	})
	if err != nil {
		return err
	}
	elapsed := time.Since(begin)
	after, err := b.resident()
	if err != nil {
		return err
	}
	ranks := len(after) - 1
	if want := printBytes * ranks; arrived != want {
		return fmt.Errorf("%d of %d printed bytes arrived", arrived, want)
	}
	b.row(fmt.Sprintf("%d MiB printed by each rank", printBytes>>20), "%.0f MB/s a rank", printBytes/1e6/elapsed.Seconds())
	for i, name := range append([]string{"this process"}, rankNames(ranks)...) {
		b.row("  memory of "+name, "%.0f MiB before, %.0f MiB after", mebibytes(before[i]), mebibytes(after[i]))
	}
	return nil
}

func rankNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("rank %d", i)
	}
	return names
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// resident returns the resident memory of this process and of every rank.
func (b *bench) resident() ([]int64, error) {
	own, err := ownMemory()
	if err != nil {
		return nil, err
	}
	infos, err := b.session.Ranks(b.ctx)
	if err != nil {
		return nil, err
	}
	sizes := []int64{own}
	for _, info := range infos {
		sizes = append(sizes, info.RSS)
	}
	return sizes, nil
}

// kernel returns a cell that compiles and runs a kernel and checks its result. The kernel is
// different for every n.
const kernel = `timed := symm.Compile(%q)
timed.Launch(symm.Grid(1), symm.Block(32), timedOut)
if got := timedOut.Ints(); got[31] != 31 + %d {
	panic(fmt.Sprint("the kernel's result is ", got))
}`

// kernels measures the time from an edited kernel, and from a kernel that was compiled before, to
// its result on all ranks.
func (b *bench) kernels() error {
	cold, cached, err := b.editing()
	if err != nil {
		return err
	}
	b.row("edited kernel to result", "%s", list(cold))
	b.row("the same from the cache", "%s", list(cached))
	return nil
}

// editing returns the times of kernels that are compiled, and of the same kernels again.
func (b *bench) editing() (cold, cached []time.Duration, err error) {
	if err := b.run("timedOut := symm.Local(symm.I32, 32)"); err != nil {
		return nil, nil, err
	}
	fresh := int(time.Now().UnixNano() % 1e9)
	for i := range edits {
		number := fresh + i
		source := fmt.Sprintf("__global__ void timed(int* out) { out[threadIdx.x] = threadIdx.x + %d; }", number)
		for _, times := range []*[]time.Duration{&cold, &cached} {
			begin := time.Now()
			if err := b.run(fmt.Sprintf(kernel, source, number)); err != nil {
				return nil, nil, err
			}
			*times = append(*times, time.Since(begin))
		}
	}
	return cold, cached, nil
}

// list formats the first time, which includes loading the compiler, and the median of the others.
func list(times []time.Duration) string {
	return fmt.Sprintf("%.1f ms at first, then %.1f ms", milliseconds(times[0]), milliseconds(median(times[1:])))
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
