package checking

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/internal/count"
)

// Printer prints results as go test does: a failed case whole, the others with Verbose in a line, and
// a line for each file when its last case is done.
type Printer struct {
	Out     io.Writer
	Verbose bool
	Colour  bool
	Left    map[string]int // results that are to come, by file

	worst map[string]Status
	done  map[string]int
	time  map[string]time.Duration
}

// Result prints a result.
func (p *Printer) Result(_ *Source, r Result) {
	if p.worst == nil {
		p.worst, p.done, p.time = map[string]Status{}, map[string]int{}, map[string]time.Duration{}
	}
	p.done[r.File]++
	p.time[r.File] += r.Time
	if r.Status == Failed || r.Status == NotRun && p.worst[r.File] != Failed {
		p.worst[r.File] = r.Status
	}
	switch {
	case r.Status == Failed:
		fmt.Fprintf(p.Out, "--- FAIL: %s (%.2fs)\n", title(r), r.Time.Seconds())
		fmt.Fprint(p.Out, indented(Report(r, p.Colour)))
	case p.Verbose && r.Status == Passed:
		fmt.Fprintf(p.Out, "--- ok: %s (%.2fs)\n", title(r), r.Time.Seconds())
	case p.Verbose:
		fmt.Fprintf(p.Out, "--- not run: %s: %s\n", title(r), r.Why)
	}
	if p.Left[r.File]--; p.Left[r.File] == 0 {
		word := map[Status]string{"": "ok  ", Failed: "FAIL", NotRun: "----"}[p.worst[r.File]]
		fmt.Fprintf(p.Out, "%s\t%s\t%s\t%.2fs\n", word, r.File, count.Of(p.done[r.File], "result"), p.time[r.File].Seconds())
	}
}

// title names a case with its place and its world.
func title(r Result) string {
	text := fmt.Sprintf("%s at %s:%d on %s", r.Case, r.File, r.Line, count.Of(r.World.Ranks, "rank"))
	if r.World.Hosts > 1 {
		text += " of " + count.Of(r.World.Hosts, "host")
	}
	return text
}

// Report returns the errors, findings and output of a case that failed, in lines.
func Report(r Result, colour bool) string {
	var b bytes.Buffer
	if r.Why != "" {
		fmt.Fprintln(&b, r.Why)
	}
	p := render.New(&b, &b, r.World.Ranks, colour)
	for _, e := range render.Alike(slices.Clone(r.Errors)) {
		p.Error(e)
	}
	for _, f := range r.Findings {
		p.Finding(f)
	}
	for _, o := range r.Missing {
		fmt.Fprintf(&b, "%s:%d: this did not come: %s\n", r.File, o.Position(), expectation(r, o.Position()))
	}
	if r.Output != "" {
		b.WriteString(r.Output)
	}
	return b.String()
}

// expectation describes the outcome that a line of a case asks for.
func expectation(r Result, line int) string {
	for _, o := range r.Missing {
		if o.Position() == line && o.Text != "" {
			return o.Text
		}
	}
	return "any finding or error"
}

// indented returns a text with four blanks before each line.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// Summary counts results.
func Summary(results []Result) string {
	n := map[Status]int{}
	for _, r := range results {
		n[r.Status]++
	}
	text := fmt.Sprintf("%d passed", n[Passed])
	for _, s := range []Status{Failed, NotRun} {
		if n[s] > 0 {
			text += fmt.Sprintf(", %d %s", n[s], s)
		}
	}
	return text
}
