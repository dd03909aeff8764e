package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed load.go.cell
var loadProgram string

//go:embed load.py
var loadPeers string

// loadSize is the default size of the tensor of Load, in bytes.
const loadSize = 64 << 20

// loadPeersTime bounds load.py.
const loadPeersTime = 3 * time.Minute

// Loading says what Load measures.
type Loading struct {
	Size  int // of the tensor in bytes; 0 for the default
	Peers bool
	JSON  bool
	CUDA  bool // the device is a GPU
}

// loadWays are the columns of the table: "loop" is the cell's own loop over numbers.
var loadWays = []string{"symmrepl", "loop", "numpy", "safetensors", "PyTorch"}

// figure is a line of a table or of JSON.
type figure struct {
	What string
	MS   map[string]float64 // by way
}

// Load measures the time to save and load a tensor, to read it into a Go slice and to fill it from
// one, on rank 0's device, and on request the time of the Python libraries. It prints a table to
// out.
func Load(ctx context.Context, s session.Session, o Loading, out io.Writer) error {
	if o.Size == 0 {
		o.Size = loadSize
	}
	infos, err := s.Ranks(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "symmrepl-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	count := max(o.Size/4, 1024)
	b := &bench{ctx: ctx, session: s}
	var said strings.Builder
	take := func(o session.Output) {
		if o.Stream == session.Stdout {
			said.WriteString(o.Text)
		}
	}
	if err := b.runTo(fmt.Sprintf("import (\"encoding/binary\"; \"math\"; \"os\"; \"path/filepath\")\nfolder, count := %q, %d", folder, count), take); err != nil {
		return err
	}
	if err := b.runTo(loadProgram, take); err != nil {
		return err
	}
	var missing []string
	if o.Peers {
		text, err := loadPeersOf(ctx, folder, count, o.CUDA)
		if said.WriteString(text); err != nil {
			missing = append(missing, fmt.Sprintf("the Python libraries are not measured: %v", err))
		}
	}
	var figures []*figure
	for line := range strings.Lines(said.String()) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) == 3 && f[0] == "-" {
			missing = append(missing, fmt.Sprintf("%s is not measured: %s", f[1], f[2]))
			continue
		}
		if len(f) != 3 {
			return fmt.Errorf("the ranks said %q", line)
		}
		ms, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return fmt.Errorf("the ranks said %q", line)
		}
		i := slices.IndexFunc(figures, func(g *figure) bool { return g.What == f[0] })
		if i < 0 {
			i = len(figures)
			figures = append(figures, &figure{What: f[0], MS: map[string]float64{}})
		}
		figures[i].MS[f[1]] = ms
	}
	if o.JSON {
		return loadJSON(figures, missing, 4*count, infos[0].Device, out)
	}
	fmt.Fprintf(out, "%s, f32[%d], %s; ms, the least of several\n", infos[0].Device, count, mib(4*count))
	for _, text := range missing {
		fmt.Fprintln(out, text)
	}
	return loadTable(figures, out)
}

func mib(n int) string { return strconv.FormatFloat(mebibytes(int64(n)), 'g', 4, 64) + " MiB" }

// loadTable prints the ways that were measured, and the ratio to the best of the libraries.
func loadTable(figures []*figure, out io.Writer) error {
	ways := slices.DeleteFunc(slices.Clone(loadWays), func(way string) bool {
		return !slices.ContainsFunc(figures, func(f *figure) bool { return f.MS[way] != 0 })
	})
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "\t"+strings.Join(ways, "\t")+"\tratio to the best library")
	for _, f := range figures {
		cells, best := []string{f.What}, math.Inf(1)
		for _, way := range ways {
			text := ""
			if ms := f.MS[way]; ms != 0 {
				text = fmt.Sprintf("%.2f", ms)
				if way != "symmrepl" && way != "loop" {
					best = min(best, ms)
				}
			}
			cells = append(cells, text)
		}
		ratio := ""
		if !math.IsInf(best, 1) {
			ratio = fmt.Sprintf("%.2f", f.MS["symmrepl"]/best)
		}
		fmt.Fprintln(table, strings.Join(append(cells, ratio), "\t"))
	}
	return table.Flush()
}

// loadJSON prints a line for each figure, and for what could not be measured.
func loadJSON(figures []*figure, missing []string, size int, device string, out io.Writer) error {
	for _, text := range missing {
		if err := json.NewEncoder(out).Encode(map[string]string{"error": text}); err != nil {
			return err
		}
	}
	for _, f := range figures {
		line := map[string]any{"op": f.What, "bytes": size, "device": device}
		for way, ms := range f.MS {
			line[strings.ToLower(way)+"_ms"] = ms
		}
		if err := json.NewEncoder(out).Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// loadPeersOf runs load.py, and returns what it said even if there is an error.
func loadPeersOf(ctx context.Context, folder string, count int, cuda bool) (string, error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return "", fmt.Errorf("there is no python3 on PATH")
	}
	script := filepath.Join(folder, "load.py")
	if err := os.WriteFile(script, []byte(loadPeers), 0o600); err != nil {
		return "", err
	}
	device := "cpu"
	if cuda {
		device = "cuda"
	}
	fmt.Fprintf(os.Stderr, "measuring the Python libraries, for %v at most\n", loadPeersTime)
	ctx, cancel := context.WithTimeout(ctx, loadPeersTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, script, folder, strconv.Itoa(count), device)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", python, err, strings.TrimSpace(stderr.String()))
	}
	return string(said), err
}
