package bench

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed net.go.cell
var netProgram string

// Network measures puts between kernels of two hosts in a session, and prints a table to out.
func Network(ctx context.Context, s session.Session, out io.Writer) error {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, session: s}
	var said strings.Builder
	take := func(o session.Output) {
		if o.Stream == session.Stdout {
			said.WriteString(o.Text)
		}
	}
	if err := b.runTo("import (\"math\"; \"slices\")\nfmt.Println(\"over\", symm.Caps().Between)", take); err != nil {
		return err
	}
	if err := b.runTo(netProgram, take); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for line := range strings.Lines(said.String()) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var bytes int
		var figures [3]float64
		n, _ := fmt.Sscan(rest, &bytes, &figures[0], &figures[1], &figures[2])
		switch {
		case kind == "over":
			fmt.Fprintf(out, "%s, %s, between hosts %s\n", session.FormatSize(len(infos)), infos[0].Device, rest)
		case kind == "put" && n == 4:
			fmt.Fprintf(table, "put of %d B with signal, kernel to kernel, one way\t%.2f us least, %.2f us median, %.2f us p90\n",
				bytes, figures[0], figures[1], figures[2])
		case kind == "stream" && n == 3:
			fmt.Fprintf(table, "puts of %d B, one after the other\t%.2f us each, %.2f GB/s\n", bytes, figures[0], figures[1])
		default:
			return fmt.Errorf("the ranks said %q", line)
		}
	}
	return table.Flush()
}
