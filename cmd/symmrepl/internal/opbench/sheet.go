package opbench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/symmrepl/symmrepl/session"
)

// sheet is a part of a report as text: a table between its title and notes.
type sheet struct {
	title   string
	columns []string
	rows    [][]string
	notes   []string
}

func (s sheet) write(out io.Writer) error {
	fmt.Fprintf(out, "\n%s\n", s.title)
	if len(s.rows) > 0 {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{s.columns}, s.rows...) {
			fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, note := range s.notes {
		if _, err := fmt.Fprintf(out, "  %s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// encode writes a line of JSON for each value.
func encode[T any](out io.Writer, values []T) error {
	w := json.NewEncoder(out)
	for _, v := range values {
		if err := w.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// begin writes the facts of the run: as JSON these and those of all runs, as text these lines, the
// first of which follows the device and the ranks, and the remarks.
func (r *run) begin(facts map[string]any, about string, lines ...string) error {
	if r.o.JSON {
		facts["device"], facts["ranks"], facts["dtype"] = r.device, r.ranks, r.o.DType
		if len(r.missing) > 0 {
			facts["not_measured"] = r.missing
		}
		if r.shared != nil {
			facts["shared"] = r.shared
		}
		return encode(r.out, []map[string]any{facts})
	}
	where := session.FormatSize(r.ranks)
	if r.world.spans() {
		where += fmt.Sprintf(" on %d hosts", len(r.world.Parts))
	}
	_, err := fmt.Fprintf(r.out, "%s, %s, %s\n", r.device, where, about)
	for _, line := range append(lines, r.remarks()...) {
		fmt.Fprintln(r.out, line)
	}
	return err
}

// bounded returns the bounds of the device or the network as text.
func (r *run) bounded() string {
	b := r.bounds
	text := fmt.Sprintf("empty kernel in a graph %.2f us, ", b.empty)
	if r.world.spans() {
		text += fmt.Sprintf("signal to another host and back %.2f us, puts of every rank over %s %.2f GB/s", b.bounce, r.world.Between, b.puts)
	} else {
		text += fmt.Sprintf("flag round trip %.2f us, copies to all peers %.1f GB/s", b.bounce, b.copies)
	}
	if b.stores > 0 {
		text += fmt.Sprintf(", stores %.1f GB/s", b.stores)
	}
	return text
}
