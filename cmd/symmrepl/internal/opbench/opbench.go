package opbench

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed bench.go.cell
var program string

//go:embed peers.py
var peers string

// Options of a measurement.
type Options struct {
	Ops   []string // names of operations; empty: all
	Sizes []int    // message sizes in bytes; empty: a few that suit the device
	DType string   // one of DTypes
	Peers bool     // measure PyTorch, NCCL and NVSHMEM as well
	JSON  bool     // a line of JSON a figure instead of tables
}

// DTypes are the element types that can be measured, and their bytes.
var DTypes = map[string]int{"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4, "i64": 8}

// extent is how much is measured on a device.
type extent struct {
	sizes                   []int
	copied                  int // bytes of the copies that measure the link: enough on a GPU to hide their start
	calls, replays, repeats int // calls in a graph, replays a time, times
}

func extentOf(device string) extent {
	if strings.HasPrefix(device, "cuda") {
		return extent{[]int{4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20}, 64 << 20, 20, 5, 7}
	}
	return extent{[]int{4 << 10, 256 << 10}, 1 << 20, 4, 2, 3}
}

// Figure is one measurement: microseconds a call, zero when not measured.
type Figure struct {
	Op    string  `json:"op"`
	By    string  `json:"by"` // "" for symmrepl
	Bytes int     `json:"bytes"`
	Graph float64 `json:"graph_us"`
	Eager float64 `json:"eager_us"`
}

// best is the better of a graph's and an eager call's time.
func (f Figure) best() float64 {
	if f.Graph == 0 || f.Eager > 0 && f.Eager < f.Graph {
		return f.Eager
	}
	return f.Graph
}

// Run measures operations in a session of ranks ranks and prints what it found.
func Run(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	device := infos[0].Device
	e := extentOf(device)
	if len(o.Sizes) > 0 {
		e.sizes = o.Sizes
	}
	var chosen []op
	for _, x := range ops {
		if len(o.Ops) == 0 || slices.Contains(o.Ops, x.name) {
			chosen = append(chosen, x)
		}
	}
	figures, err := measure(ctx, s, ranks, e, o.DType, chosen)
	if err != nil {
		return err
	}
	var without []string
	if o.Peers {
		for _, backend := range []string{"CUDA", "NVSHMEM"} {
			theirs, err := measurePeers(ctx, ranks, backend, o.DType, e.sizes, chosen)
			if err != nil {
				without = append(without, fmt.Sprintf("peers by %s were not all measured: %v", backend, err))
			}
			figures = append(figures, theirs...)
		}
	}
	if o.JSON {
		err = printJSON(out, device, ranks, o.DType, e, chosen, figures)
	} else {
		err = printTables(out, device, ranks, o.DType, e, chosen, figures)
	}
	for _, line := range without {
		fmt.Fprintln(os.Stderr, line)
	}
	return err
}

// measure runs the cells and collects what the ranks print: of every figure the maximum over ranks.
func measure(ctx context.Context, s session.Session, ranks int, e extent, dtype string, chosen []op) ([]Figure, error) {
	source := strings.NewReplacer("CALLS", strconv.Itoa(e.calls), "REPLAYS", strconv.Itoa(e.replays), "REPEATS", strconv.Itoa(e.repeats),
		"COPY_BYTES", strconv.Itoa(e.copied), "DTYPE", "symm."+strings.ToUpper(dtype)).Replace(program)
	cells := strings.Split(source, "// %%\n")
	for _, x := range chosen {
		for _, n := range x.bytes(e.sizes) {
			cells = append(cells, x.cell(ranks, DTypes[dtype], n))
		}
	}
	worst := map[string]Figure{}
	var order []string
	for i, cell := range cells {
		var text bytes.Buffer
		reply := s.Eval(ctx, session.Cell{Name: fmt.Sprintf("bench[%d]", i+1), Source: cell, Silent: true, Output: func(o session.Output) { text.WriteString(o.Text) }})
		if len(reply.Errors) > 0 {
			return nil, reply.Errors[0]
		}
		found, err := parse(&text)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			key := f.Op + strconv.Itoa(f.Bytes)
			w, seen := worst[key]
			if !seen {
				order = append(order, key)
			}
			worst[key] = Figure{Op: f.Op, Bytes: f.Bytes, Graph: max(f.Graph, w.Graph), Eager: max(f.Eager, w.Eager)}
		}
	}
	figures := make([]Figure, len(order))
	for i, key := range order {
		figures[i] = worst[key]
	}
	return figures, nil
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

// peersTime bounds a run of peers.py.
const peersTime = 5 * time.Minute

// measurePeers runs peers.py under torchrun. It returns what was measured even if there is an error.
func measurePeers(ctx context.Context, ranks int, backend, dtype string, sizes []int, chosen []op) ([]Figure, error) {
	ctx, cancel := context.WithTimeout(ctx, peersTime)
	defer cancel()
	var names []string
	for _, x := range chosen {
		names = append(names, x.name)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, errors.New("no python3 on PATH")
	}
	dir, err := os.MkdirTemp("", "symmrepl-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, []byte(peers), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", strconv.Itoa(ranks), script,
		backend, dtype, commas(sizes), strings.Join(names, ","))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	figures, parsed := parse(bytes.NewReader(out))
	if err != nil {
		err = fmt.Errorf("torchrun: %w: %s", err, lastLine(stderr.String()))
	}
	return figures, errors.Join(err, parsed)
}

func commas(sizes []int) string {
	list := make([]string, len(sizes))
	for i, n := range sizes {
		list[i] = strconv.Itoa(n)
	}
	return strings.Join(list, ",")
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
