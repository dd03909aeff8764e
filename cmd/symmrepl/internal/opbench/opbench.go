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
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed allreduce.go.cell
var program string

//go:embed peers.py
var peers string

// Options of a measurement.
type Options struct {
	Sizes []int // message sizes in bytes, multiples of 2
	Peers bool  // measure PyTorch and NCCL as well
}

// copyBytes is what the copy that measures the link moves: enough on a GPU to hide its start.
func copyBytes(device string) int {
	if strings.HasPrefix(device, "cuda") {
		return 64 << 20
	}
	return 1 << 20
}

// Figure is one measurement: microseconds a call, zero when not measured.
type Figure struct {
	Op    string  `json:"op"`
	Bytes int     `json:"bytes"`
	Graph float64 `json:"graph_us"`
	Eager float64 `json:"eager_us"`
}

// Run measures the one-shot all-reduce in a session of ranks ranks and prints the table.
func Run(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	copied := copyBytes(infos[0].Device)
	figures, err := measure(ctx, s, o.Sizes, copied)
	if err != nil {
		return err
	}
	var without string
	if o.Peers {
		theirs, err := measurePeers(ctx, ranks, o.Sizes)
		if err != nil {
			without = err.Error()
		}
		figures = append(figures, theirs...)
	}
	fmt.Fprintf(out, "%s\n", infos[0].Device)
	print(out, ranks, o.Sizes, copied, figures)
	if without != "" {
		fmt.Fprintf(out, "PyTorch and NCCL were not measured: %s\n", without)
	}
	return nil
}

// measure runs the cells and collects what the ranks print.
func measure(ctx context.Context, s session.Session, sizes []int, copied int) ([]Figure, error) {
	source := strings.NewReplacer("SIZES", commas(sizes), "COPY_BYTES", strconv.Itoa(copied)).Replace(program)
	worst := map[string]Figure{}
	var order []string
	for i, cell := range strings.Split(source, "// %%\n") {
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
			worst[key] = Figure{f.Op, f.Bytes, max(f.Graph, w.Graph), max(f.Eager, w.Eager)}
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

// measurePeers runs peers.py under torchrun.
func measurePeers(ctx context.Context, ranks int, sizes []int) ([]Figure, error) {
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
	cmd := exec.CommandContext(ctx, python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", strconv.Itoa(ranks), script, commas(sizes))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("torchrun: %w: %s", err, lastLine(stderr.String()))
	}
	return parse(bytes.NewReader(out))
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

// print writes the table: our figure, the limit, the peers, and our share of the better peer.
func print(out io.Writer, ranks int, sizes []int, copied int, figures []Figure) {
	at := func(op string, bytes int) Figure {
		for _, f := range figures {
			if f.Op == op && f.Bytes == bytes {
				return f
			}
		}
		return Figure{}
	}
	empty, bounce, rate := at("empty", 0).Graph, at("bounce", 4).Graph, 0.0
	if c := at("copy", copied).Eager; c > 0 {
		rate = float64(copied) / c // bytes a microsecond
		fmt.Fprintf(out, "limits: empty kernel in a graph %.2f us; flag round trip %.2f us; copy to a peer %.0f GB/s\n", empty, bounce, rate/1e3)
	}
	fmt.Fprintf(out, "one_shot_all_reduce, bf16, sum, %d ranks; us a call; limit = empty kernel + half a round trip + bytes sent / copy rate\n", ranks)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "bytes\tlimit\tgraph\teager\tPyTorch graph\tPyTorch eager\tNCCL graph\tNCCL eager\tgraph/PyTorch\teager/PyTorch\t")
	for _, n := range sizes {
		ours, torch, nccl := at("symmrepl", n), at("one_shot", n), at("nccl", n)
		limit := empty
		if rate > 0 {
			limit += bounce/2 + float64(n)*float64(ranks-1)/rate
		}
		fmt.Fprintf(w, "%d\t%.2f\t%.2f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t\n", n, limit, ours.Graph, ours.Eager,
			cell(torch.Graph), cell(torch.Eager), cell(nccl.Graph), cell(nccl.Eager), ratio(ours.Graph, torch.Graph), ratio(ours.Eager, torch.Eager))
	}
	w.Flush()
}

func cell(us float64) string {
	if us == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", us)
}

func ratio(ours, theirs float64) string {
	if theirs == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", ours/theirs)
}
