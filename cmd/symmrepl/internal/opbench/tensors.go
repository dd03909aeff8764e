package opbench

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed tensors.go.cell
var tensorsProgram string

//go:embed tensors.py
var tensorsPeers string

// tensorPeers are the programs that calculate the same.
var tensorPeers = []string{"CuPy", "PyTorch"}

// Tensors measures calculations with tensors, by the bytes that they move, beside the copy of a
// tensor, which is their limit, and beside CuPy and PyTorch. o.Sizes are the bytes of an operand.
func Tensors(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	r, err := start(ctx, s, ranks, o, out)
	if err != nil {
		return err
	}
	sizes := o.Sizes
	if len(sizes) == 0 {
		sizes = []int{512 << 20}
		if o.Emulated {
			sizes = []int{4 << 20}
		}
	}
	if o.Peers && o.Emulated {
		r.missing = append(r.missing, "CuPy and PyTorch not measured: they need a GPU")
	}
	for i, bytes := range sizes {
		n := max(bytes/DTypes[o.DType], 1024) &^ 1023
		rows := 1 << (int(math.Log2(float64(n))) / 2)
		for n%rows != 0 {
			rows /= 2
		}
		var theirs []Figure
		if o.Peers && !o.Emulated {
			theirs = r.tensorPeers(n, rows)
		}
		source := strings.NewReplacer("ELEMENTS", strconv.Itoa(n), "ROWS", strconv.Itoa(rows)).Replace(tensorsProgram)
		ours, err := r.cell(source)
		if err != nil {
			return err
		}
		if i == 0 && !o.JSON {
			if err := r.begin(nil, o.DType+"; GB/s of the bytes that a call reads and writes, and as a part of the copy's"); err != nil {
				return err
			}
		}
		if err := r.printTensors(n*DTypes[o.DType], ours, theirs); err != nil {
			return err
		}
	}
	return nil
}

// tensorPeers measures the same by CuPy and PyTorch.
func (r *run) tensorPeers(n, rows int) []Figure {
	ctx, cancel := context.WithTimeout(r.ctx, peersTime)
	defer cancel()
	fmt.Fprintf(os.Stderr, "measuring CuPy and PyTorch, for %v at most\n", peersTime)
	cmd := exec.CommandContext(ctx, "python3", "-c", tensorsPeers, r.o.DType, strconv.Itoa(n), strconv.Itoa(rows),
		strconv.Itoa(r.extent.calls), strconv.Itoa(r.extent.repeats))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, failed := cmd.Output()
	figures, err := parse(bytes.NewReader(out))
	if failed != nil {
		err = fmt.Errorf("%w: %s", failed, lastLine(stderr.String()))
	}
	if err != nil {
		r.missing = append(r.missing, fmt.Sprintf("CuPy and PyTorch not measured: %v", err))
	}
	for _, f := range figures {
		if f.Op == "" {
			r.missing = append(r.missing, fmt.Sprintf("%s not measured: %s", f.By, f.Error))
		}
	}
	return figures
}

// rate is GB/s of a figure; 0 if it was not measured.
func (f Figure) rate() float64 {
	if f.best() == 0 {
		return 0
	}
	return float64(f.Bytes) / f.best() / 1e3
}

// printTensors writes the table for operands of so many bytes, or a line of JSON for every figure.
func (r *run) printTensors(size int, ours, theirs []Figure) error {
	limit := 0.0
	for _, f := range ours {
		if f.Op == "copy" {
			limit = f.rate()
		}
	}
	if r.o.JSON {
		var lines []map[string]any
		for _, f := range slices.Concat(ours, theirs) {
			line := map[string]any{"op": f.Op, "by": f.By, "dtype": r.o.DType, "size": size}
			if f.Error != "" {
				line["not_measured"] = f.Error
			} else {
				line["bytes"], line["us"], line["gbps"], line["of_copy"] = f.Bytes, f.best(), f.rate(), f.rate()/limit
			}
			lines = append(lines, line)
		}
		return encode(r.out, lines)
	}
	s := sheet{title: fmt.Sprintf("operands of %d bytes", size), columns: []string{"operation", "in a graph", "called", "of the copy"}}
	peers := tensorPeers
	if !r.o.Peers || r.o.Emulated {
		peers = nil
	}
	for _, by := range peers {
		s.columns = append(s.columns, by, "of the copy")
	}
	rate := func(gbps float64) string { return fmt.Sprintf("%.1f", gbps) }
	part := func(gbps float64) string { return fmt.Sprintf("%.2f", gbps/limit) }
	for _, f := range ours {
		graph := "-"
		if f.Graph > 0 {
			graph = rate(float64(f.Bytes) / f.Graph / 1e3)
		}
		row := []string{f.Op, graph, rate(float64(f.Bytes) / f.Eager / 1e3), part(f.rate())}
		for _, by := range peers {
			i := slices.IndexFunc(theirs, func(t Figure) bool { return t.By == by && t.Op == f.Op && t.Error == "" })
			if i < 0 {
				row = append(row, "-", "-")
			} else {
				row = append(row, rate(theirs[i].rate()), part(theirs[i].rate()))
			}
		}
		s.rows = append(s.rows, row)
	}
	return s.write(r.out)
}
