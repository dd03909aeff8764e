package opbench

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed bench.go.cell
var program string

// Figure is one measurement: microseconds a call, zero when not measured.
type Figure struct {
	Op    string  `json:"op"`
	By    string  `json:"by"` // "" for symmrepl
	Bytes int     `json:"bytes"`
	Graph float64 `json:"graph_us"`
	Eager float64 `json:"eager_us"`
	Error string  `json:"error,omitempty"` // why a time is missing

	overlapped
	stepped
	world
	switched
}

// world describes how the ranks are divided into parts that map each other's memory.
type world struct {
	Parts   [][]int `json:"parts,omitempty"`
	Between string  `json:"between,omitempty"` // the network between them
}

// spans reports whether there is a network between ranks.
func (w world) spans() bool { return len(w.Parts) > 1 }

// least returns the number of ranks of the smallest part.
func (w world) least() int {
	return len(slices.MinFunc(w.Parts, func(a, b []int) int { return len(a) - len(b) }))
}

// even reports whether all parts have equally many ranks.
func (w world) even() bool {
	return !slices.ContainsFunc(w.Parts, func(part []int) bool { return len(part) != w.least() })
}

// best returns the shorter of the times of a graph and of eager calls.
func (f Figure) best() float64 {
	if f.Graph == 0 || f.Eager > 0 && f.Eager < f.Graph {
		return f.Eager
	}
	return f.Graph
}

// usual returns the time of a graph, or of an eager call if the operation cannot be captured.
func (f Figure) usual() float64 {
	if f.Graph > 0 {
		return f.Graph
	}
	return f.Eager
}

// cell runs a cell after replacing its words in capitals by the parameters of this run. It returns
// the maximum over ranks of every figure that the cell prints.
func (r *run) cell(source string) ([]Figure, error) {
	e := r.extent
	source = strings.NewReplacer("CALLS", strconv.Itoa(e.calls), "REPLAYS", strconv.Itoa(e.replays), "REPEATS", strconv.Itoa(e.repeats),
		"COPY_BYTES", strconv.Itoa(e.copied), "PUT_BYTES", strconv.Itoa(e.put), "SIDE", strconv.Itoa(e.side), "DTYPE",
		"symm."+strings.ToUpper(r.o.DType)).Replace(source)
	r.cells++
	var text bytes.Buffer
	reply := r.session.Eval(r.ctx, session.Cell{Name: fmt.Sprintf("bench[%d]", r.cells), Source: source, Silent: true,
		Output: func(o session.Output) { text.WriteString(o.Text) }})
	if len(reply.Errors) > 0 {
		return nil, reply.Errors[0]
	}
	found, err := parse(&text)
	if err != nil {
		return nil, err
	}
	var worst []Figure
next:
	for _, f := range found {
		for i := range worst {
			if w := &worst[i]; w.Op == f.Op && w.By == f.By && w.Way == f.Way && w.Bytes == f.Bytes {
				w.Graph, w.Eager = max(w.Graph, f.Graph), max(w.Eager, f.Eager)
				continue next
			}
		}
		worst = append(worst, f)
	}
	return worst, nil
}

// parse reads JSON lines and skips all others.
func parse(r io.Reader) ([]Figure, error) {
	var figures []Figure
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "{") {
			continue
		}
		var f Figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("benchmark output %q: %w", lines.Text(), err)
		}
		figures = append(figures, f)
	}
	return figures, lines.Err()
}
