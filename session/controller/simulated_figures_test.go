package controller

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

// mostSimulated is the size of the largest world of TestSimulatedFigures.
var mostSimulated = flag.Int("simulate", 20, "ranks of the largest session that TestSimulatedFigures measures")

// Sizes of the measurements.
const (
	measuredCells = 400 // of each kind
	measuredStops = 5   // interrupts
	largeHost     = 64  // ranks of a host, for comparison
)

// measuredWorlds are the worlds that are measured before the largest. All have hosts of the same
// size.
var measuredWorlds = []simulation{{Ranks: 4, PerHost: 8}, {Ranks: 64, PerHost: 8}, {Ranks: 256, PerHost: 8}, {Ranks: 1024, PerHost: 8}}

// Cells of simulated ranks, and of ranks of their own processes.
const (
	equalCell = "print loss 0.125 at step 100" // a line that is the same on all ranks
	ownCell   = "print rank RANK loss 0.125"   // a line that is different on all ranks
)

// TestSimulatedFigures measures the session itself: sessions of simulated ranks of up to -simulate
// ranks, and for comparison cells of a session whose ranks have processes. It prints the table of
// docs/benchmarks.md, in which the table of a hang stays short at any size.
func TestSimulatedFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("short: takes ten seconds")
	}
	runtimeDir(t)
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "ranks\thosts\tempty cell\tCPU\tequal output\tdifferent output\tinterrupt\tstate of ranks\thang told\tcontroller\ta rank\t")
	worlds := slices.DeleteFunc(slices.Clone(measuredWorlds), func(w simulation) bool { return w.Ranks >= *mostSimulated })
	worlds = append(worlds, simulation{Ranks: *mostSimulated, PerHost: measuredWorlds[0].PerHost})
	if *mostSimulated > largeHost {
		worlds = append(worlds, simulation{Ranks: *mostSimulated, PerHost: largeHost})
	}
	want := []string{`^ranks +hosts +empty cell +CPU +equal output`, `^4, processes +1( +[0-9.]+ \([0-9.]+\)){3} *$`}
	if err := processRow(table); err != nil {
		t.Fatal(err)
	}
	for _, w := range worlds {
		m, err := measureWorld(w)
		if err != nil {
			t.Fatalf("%d ranks: %v", w.Ranks, err)
		}
		fmt.Fprintf(table, "%d\t%d\t%v\t%.2f\t%v\t%v\t%v\t%v\t%.1f s, %d lines\t%.1f MiB\t%.0f KiB\t\n", w.Ranks, len(w.hosts()),
			m.empty, milliseconds(m.cpu), m.equal, m.own, m.interrupt, m.state, m.told.Seconds(), m.lines,
			float64(m.memory)/(1<<20), float64(m.memory)/1024/float64(w.Ranks))
		want = append(want, fmt.Sprintf(`^%d +%d +.* s, 3 lines +[0-9.]+ MiB +[0-9]+ KiB *$`, w.Ranks, len(w.hosts())))
	}
	table.Flush()
	fmt.Print(out.String(), `Times are in ms: the median, and the least in parentheses. CPU is the processor time of the controller for an empty cell. One process
plays all simulated hosts, without interpreters and devices; each host has a link of its own. Memory is live heap and stacks.
`)
	for i, row := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		if i >= len(want) || !regexp.MustCompile(want[i]).MatchString(row) {
			t.Errorf("line %d is not as %q", i+1, want)
		}
	}
}

// processRow measures the cells of a session whose ranks have processes, with the evaluators of this
// package's tests.
func processRow(table *tabwriter.Writer) error {
	const ranks = 4
	s, err := Launch(context.Background(), session.Config{Ranks: ranks})
	if err != nil {
		return err
	}
	defer s.Close()
	m := &measured{Session: s}
	if err := m.cells(ranks); err != nil {
		return err
	}
	_, err = fmt.Fprintf(table, "%d, processes\t1\t%v\t\t%v\t%v\t\t\t\t\t\t\n", ranks, m.empty, m.equal, m.own)
	return err
}

// measured are the figures of one world.
type measured struct {
	session.Session
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

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// spreadOf returns the spread of times.
func spreadOf(times []time.Duration) spread {
	slices.Sort(times)
	return spread{times[0], times[len(times)/2]}
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
	return spreadOf(list), nil
}

// measureWorld measures one world.
func measureWorld(world simulation) (*measured, error) {
	c, err := simulate(context.Background(), world)
	if err != nil {
		return nil, err
	}
	m := &measured{Session: c}
	defer func() { // an earlier session may leave memory behind until the next one has started
		m.Close()
		m.memory -= liveMemory()
	}()
	if err := m.cells(world.Ranks); err != nil {
		return nil, err
	}
	if m.state, err = timed(measuredCells/10, func() error { _, err := m.Ranks(context.Background()); return err }); err != nil {
		return nil, err
	}
	m.memory = liveMemory()
	if err := m.interrupts(world.Ranks); err != nil {
		return nil, err
	}
	return m, m.hang(world.Ranks)
}

// cells measures cells of each kind, after some that do not count.
func (m *measured) cells(ranks int) error {
	for _, c := range []struct {
		source string
		into   *spread
		lines  int
	}{{"", &m.empty, 0}, {equalCell, &m.equal, 1}, {ownCell, &m.own, ranks}} {
		used := processorTime()
		for _, times := range []int{measuredCells / 4, measuredCells} {
			var err error
			if *c.into, err = timed(times, func() error { return m.printed(c.source, c.lines) }); err != nil {
				return err
			}
		}
		if c.source == "" {
			m.cpu = (processorTime() - used) / (measuredCells + measuredCells/4)
		}
	}
	return nil
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// printed runs a cell that prints a number of different lines.
func (m *measured) printed(source string, lines int) error {
	got := 0
	reply := m.Eval(context.Background(), session.Cell{Source: source, Silent: true,
		Output: func(o session.Output) { got += strings.Count(o.Text, "\n") }})
	if len(reply.Errors) > 0 {
		return reply.Errors[0]
	}
	if got != lines {
		return fmt.Errorf("%d lines were shown, not %d", got, lines)
	}
	return nil
}

// hungCell returns a cell in which the last rank computes, and all others wait for it, until the cell
// is interrupted.
func hungCell(ranks int) string { return fmt.Sprintf("%d:sleep\nwait %[1]d", ranks-1) }

// interrupts measures interrupts of a cell that hangs, from the interrupt to the reply, by which
// the ranks have recovered.
func (m *measured) interrupts(ranks int) error {
	var list []time.Duration
	for range measuredStops {
		ctx, interrupt := context.WithCancel(context.Background())
		replied := make(chan session.Reply, 1)
		go func() { replied <- m.Eval(ctx, session.Cell{Source: hungCell(ranks), Silent: true}) }()
		time.Sleep(200 * time.Millisecond)
		begin := time.Now()
		interrupt()
		reply := <-replied
		list = append(list, time.Since(begin))
		if len(reply.Errors) != 1 || reply.Errors[0].Kind != session.KindInterrupted {
			return fmt.Errorf("%d errors after an interrupt", len(reply.Errors))
		}
	}
	m.interrupt = spreadOf(list)
	return nil
}

// hang runs a cell that hangs, and measures the table of waits that the session shows.
func (m *measured) hang(ranks int) error {
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	begin := time.Now()
	m.Eval(ctx, session.Cell{Source: hungCell(ranks), Silent: true, Output: func(o session.Output) {
		if o.Stream == session.Note && m.lines == 0 {
			m.told, m.lines = time.Since(begin), strings.Count(o.Text, "\n")
			interrupt()
		}
	}})
	if m.lines == 0 {
		return errors.New("nothing was said of ranks that hang")
	}
	return nil
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
