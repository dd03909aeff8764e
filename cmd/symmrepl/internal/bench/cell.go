package bench

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed cell.go.cell
var cellProgram string

//go:embed cell.py
var cellPeers string

// cellWays are the columns of the table: "symmrepl" is the call as a user writes it, "closure" the
// same call in a function literal.
var cellWays = []string{"symmrepl", "closure", "CuPy", "PyTorch", "ipyparallel", "ipykernel"}

// ownWays is the number of cellWays that are this project's.
const ownWays = 2

// Cell measures the waits of one user of a session, beside those of the Python libraries that
// python3 has, and prints a table to out: the start, a cell's round trip, an edited kernel, and
// calls from a cell while nothing else runs. Open starts the session, which Cell closes, and
// reports whether the device is a GPU; it returns no session if this process serves another
// process's session.
func Cell(ctx context.Context, open func(context.Context) (s session.Session, cuda bool, err error), out io.Writer) error {
	begin := time.Now()
	s, cuda, err := open(ctx)
	if s == nil || err != nil {
		return err
	}
	defer s.Close()
	b := &bench{ctx: ctx, session: s}
	if err := b.run("x := 1"); err != nil {
		return err
	}
	figures := add(nil, "start to the first value, ms", cellWays[0], milliseconds(time.Since(begin)))
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	trips, err := b.trips()
	if err != nil {
		return err
	}
	figures = add(figures, "cell x := 1 on all ranks, ms", cellWays[0], milliseconds(trips[len(trips)/2]))
	cold, cached, err := b.editing()
	if err != nil {
		return err
	}
	figures = add(figures, "edited kernel to its result, ms", cellWays[0], milliseconds(median(cold[1:])))
	figures = add(figures, "the same kernel again, ms", cellWays[0], milliseconds(median(cached[1:])))
	said, err := b.calls()
	if err != nil {
		return err
	}
	missing := ""
	text, err := cellPeersOf(ctx, cuda, len(infos))
	if said += text; err != nil {
		missing = fmt.Sprintf("the Python libraries are not measured: %v\n", err)
	}
	more, absent, err := parseFigures(said)
	if err != nil {
		return err
	}
	for _, f := range more {
		for way, time := range f.Times {
			figures = add(figures, f.What, way, time)
		}
	}
	for _, text := range absent {
		missing += text + "\n"
	}
	fmt.Fprintf(out, "%s, %s; medians\n%s", session.FormatSize(len(infos)), infos[0].Device, missing)
	return printFigures(figures, cellWays, ownWays, "ratio to the best library", out)
}

// calls measures calls from a cell, and returns the lines that rank 0 printed.
func (b *bench) calls() (string, error) {
	return b.program("import (\"fmt\"; \"sort\"; \"time\")\n" + cellProgram)
}

// program evaluates a cell, and returns its output.
func (b *bench) program(source string) (string, error) {
	var said strings.Builder
	err := b.runTo(source, func(o session.Output) {
		if o.Stream == session.Stdout {
			said.WriteString(o.Text)
		}
	})
	return said.String(), err
}

// cellPeersOf runs cell.py for a number of ranks, and returns its output even if there is an error.
func cellPeersOf(ctx context.Context, cuda bool, ranks int) (string, error) {
	folder, err := os.MkdirTemp("", "symmrepl-bench-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	return runPeers(ctx, folder, cellPeers, pythonDevice(cuda), strconv.Itoa(ranks))
}
