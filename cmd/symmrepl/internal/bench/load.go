package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed load.go.cell
var loadProgram string

//go:embed load.py
var loadPeers string

// loadSize is the default size of the tensor of Load, in bytes.
const loadSize = 64 << 20

// Loading holds the options of Load.
type Loading struct {
	Size  int // of the tensor in bytes; 0 for the default
	Peers bool
	JSON  bool
	CUDA  bool // the device is a GPU
}

// loadWays are the columns of the table: "loop" is the cell's own loop over numbers.
var loadWays = []string{"symmrepl", "loop", "numpy", "safetensors", "PyTorch"}

// ownLoadWays is the number of loadWays that are this project's.
const ownLoadWays = 2

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
	if err := b.runTo(fmt.Sprintf("import (\"encoding/binary\"; \"math\"; \"os\"; \"path/filepath\")\nfolder, count := %q, %d",
		folder, count), take); err != nil {
		return err
	}
	if err := b.runTo(loadProgram, take); err != nil {
		return err
	}
	var missing []string
	if o.Peers {
		text, err := runPeers(ctx, folder, loadPeers, folder, strconv.Itoa(count), pythonDevice(o.CUDA))
		if said.WriteString(text); err != nil {
			missing = append(missing, fmt.Sprintf("the Python libraries are not measured: %v", err))
		}
	}
	figures, absent, err := parseFigures(said.String())
	if err != nil {
		return err
	}
	missing = append(missing, absent...)
	if o.JSON {
		return loadJSON(figures, missing, 4*count, infos[0].Device, out)
	}
	fmt.Fprintf(out, "%s, f32[%d], %s; ms, the least of several\n", infos[0].Device, count, mib(4*count))
	for _, text := range missing {
		fmt.Fprintln(out, text)
	}
	return printFigures(figures, loadWays, ownLoadWays, "ratio to the best library", out)
}

func mib(n int) string { return strconv.FormatFloat(mebibytes(int64(n)), 'g', 4, 64) + " MiB" }

// loadJSON prints a line for each figure, and for each measurement that failed.
func loadJSON(figures []*figure, missing []string, size int, device string, out io.Writer) error {
	for _, text := range missing {
		if err := json.NewEncoder(out).Encode(map[string]string{"error": text}); err != nil {
			return err
		}
	}
	for _, f := range figures {
		line := map[string]any{"op": f.What, "bytes": size, "device": device}
		for way, ms := range f.Times {
			line[strings.ToLower(way)+"_ms"] = ms
		}
		if err := json.NewEncoder(out).Encode(line); err != nil {
			return err
		}
	}
	return nil
}
