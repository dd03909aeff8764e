package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// Sizes of the simulation.
const (
	simulatedCells = 400 // of each kind
	simulatedStops = 5   // interrupts
	largeHost      = 64  // ranks of a host, for comparison
)

// simulatedWorlds are the worlds that are measured before the largest. All have hosts of the same
// size.
var simulatedWorlds = []session.Simulation{{Ranks: 4, PerHost: 8}, {Ranks: 64, PerHost: 8}, {Ranks: 256, PerHost: 8},
	{Ranks: 1024, PerHost: 8}}

// Simulate measures sessions of simulated ranks, which it starts by calling simulate, and for
// comparison cells of a real session, which it starts by calling open. It prints a table to out.
func Simulate(ctx context.Context, ranks int, open func(context.Context) (session.Session, error),
	simulate func(context.Context, session.Simulation) (session.Session, error), out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "ranks\thosts\tempty cell\tCPU\tequal output\tdifferent output\tinterrupt\tstate of ranks\thang told\tcontroller\ta rank\t")
	if err := realRow(ctx, open, table); err != nil {
		return err
	}
	worlds := slices.DeleteFunc(slices.Clone(simulatedWorlds), func(w session.Simulation) bool { return w.Ranks >= ranks })
	worlds = append(worlds, session.Simulation{Ranks: ranks, PerHost: simulatedWorlds[0].PerHost})
	if ranks > largeHost {
		worlds = append(worlds, session.Simulation{Ranks: ranks, PerHost: largeHost})
	}
	for _, w := range worlds {
		m, err := simulateWorld(ctx, w, simulate)
		if err != nil {
			return fmt.Errorf("%d ranks: %w", w.Ranks, err)
		}
		fmt.Fprintf(table, "%d\t%d\t%v\t%.2f\t%v\t%v\t%v\t%v\t%.1f s, %d lines\t%.1f MiB\t%.0f KiB\t\n", w.Ranks,
			(w.Ranks+w.PerHost-1)/w.PerHost, m.empty, milliseconds(m.cpu),
			m.equal, m.own, m.interrupt, m.state, m.told.Seconds(), m.lines, mebibytes(m.memory), float64(m.memory)/1024/float64(w.Ranks))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprint(out, `Times are in ms: the median, and the least in parentheses. CPU is the processor time of the controller for an empty cell. One process
plays all simulated hosts, without interpreters and devices; each host has a link of its own. Memory is live heap and stacks.
`)
	return nil
}

// realRow measures the cells of a real session.
func realRow(ctx context.Context, open func(context.Context) (session.Session, error), table io.Writer) error {
	s, err := open(ctx)
	if s == nil || err != nil {
		return err
	}
	defer s.Close()
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, session: s}
	var cells [3]spread
	for i, c := range []struct {
		source string
		lines  int
	}{{"x := 1", 0}, {fmt.Sprintf("fmt.Print(%q)", equalLine), 1}, {"fmt.Println(`rank`, symm.Rank(), `loss 0.125`)", len(infos)}} {
		if cells[i], err = timeCells(func() error { return b.printed(c.source, c.lines) }); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(table, "%d, real\t1\t%v\t\t%v\t%v\t\t\t\t\t\t\n", len(infos), cells[0], cells[1], cells[2])
	return err
}

// simulated are the figures of one world.
type simulated struct {
	empty, equal, own, interrupt, state spread
	cpu                                 time.Duration // of this process, for an empty cell
	lines                               int           // of the table of waits
	told                                time.Duration // from the beginning of the cell to the table
	memory                              int64         // of the controller: live heap and stacks beyond those of this process after it
}

// spread holds the least and the median of measured times.
type spread struct{ least, median time.Duration }

func (s spread) String() string {
	return fmt.Sprintf("%.2f (%.2f)", milliseconds(s.median), milliseconds(s.least))
}

// timed measures a number of calls of f.
func timed(times int, f func() error) (spread, error) {
	list := make([]time.Duration, times)
	for i := range list {
		begin := time.Now()
		if err := f(); err != nil {
			return spread{}, err
		}
		list[i] = time.Since(begin)
	}
	slices.Sort(list)
	return spread{list[0], list[len(list)/2]}, nil
}

// timeCells measures cells, after some that do not count.
func timeCells(f func() error) (spread, error) {
	if _, err := timed(simulatedCells/4, f); err != nil {
		return spread{}, err
	}
	return timed(simulatedCells, f)
}

// simulateWorld measures one world.
func simulateWorld(ctx context.Context, world session.Simulation,
	simulate func(context.Context, session.Simulation) (session.Session, error)) (m simulated, err error) {
	s, err := simulate(ctx, world)
	if err != nil {
		return m, err
	}
	defer func() { // an earlier session may leave memory behind until the next one has started
		s.Close()
		m.memory -= liveMemory()
	}()
	b := &bench{ctx: ctx, session: s}
	for _, c := range []struct {
		source string
		into   *spread
		lines  int
	}{{emptyCell, &m.empty, 0}, {equalCell, &m.equal, 1}, {ownCell, &m.own, world.Ranks}} {
		used := processorTime()
		if *c.into, err = timeCells(func() error { return b.printed(c.source, c.lines) }); err != nil {
			return m, err
		}
		if c.source == emptyCell {
			m.cpu = (processorTime() - used) / (simulatedCells + simulatedCells/4)
		}
	}
	if m.state, err = timed(simulatedCells/10, func() error { _, err := s.Ranks(ctx); return err }); err != nil {
		return m, err
	}
	m.memory = liveMemory()
	if m.interrupt, err = b.interrupts(); err != nil {
		return m, err
	}
	m.told, m.lines, err = b.hang()
	return m, err
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// printed runs a cell that prints a number of different lines.
func (b *bench) printed(source string, lines int) error {
	got := 0
	err := b.runTo(source, func(o session.Output) { got += strings.Count(o.Text, "\n") })
	if err == nil && got != lines {
		err = fmt.Errorf("%d lines were shown, not %d", got, lines)
	}
	return err
}

// interrupts measures interrupts of a cell that hangs, from the interrupt to the reply, by which
// the ranks have recovered.
func (b *bench) interrupts() (spread, error) {
	var list []time.Duration
	for range simulatedStops {
		ctx, interrupt := context.WithCancel(b.ctx)
		replied := make(chan session.Reply, 1)
		go func() { replied <- b.session.Eval(ctx, session.Cell{Source: hungCell, Silent: true}) }()
		time.Sleep(200 * time.Millisecond)
		begin := time.Now()
		interrupt()
		reply := <-replied
		list = append(list, time.Since(begin))
		if len(reply.Errors) != 1 || reply.Errors[0].Kind != session.KindInterrupted {
			return spread{}, fmt.Errorf("%d errors after an interrupt", len(reply.Errors))
		}
	}
	slices.Sort(list)
	return spread{list[0], list[len(list)/2]}, nil
}

// hang runs a cell that hangs. It returns the time until the session shows the table of waits, and
// the table's number of lines.
func (b *bench) hang() (told time.Duration, lines int, err error) {
	ctx, interrupt := context.WithCancel(b.ctx)
	defer interrupt()
	begin := time.Now()
	b.session.Eval(ctx, session.Cell{Source: hungCell, Silent: true, Output: func(o session.Output) {
		if o.Stream == session.Note && lines == 0 {
			told, lines = time.Since(begin), strings.Count(o.Text, "\n")
			interrupt()
		}
	}})
	if lines == 0 {
		err = errors.New("nothing was said of ranks that hang")
	}
	return told, lines, err
}

// liveMemory returns the memory of this process, in bytes: the heap and the stacks of goroutines,
// once what an earlier session left behind no longer shrinks. A sync.Pool keeps unused values for two
// collections.
func liveMemory() int64 {
	least := int64(math.MaxInt64)
	for {
		runtime.GC()
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		now := int64(m.HeapAlloc + m.StackInuse)
		if now >= least {
			return least
		}
		least = now
		time.Sleep(100 * time.Millisecond)
	}
}
