package opbench

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
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

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
			fmt.Fprintf(out, "%s, %s, %s; GB/s of the bytes that a call reads and writes, and as a part of the copy's\n",
				r.device, session.FormatSize(ranks), o.DType)
			for _, line := range r.remarks() {
				fmt.Fprintln(out, line)
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
		w := json.NewEncoder(r.out)
		for _, f := range slices.Concat(ours, theirs) {
			line := map[string]any{"op": f.Op, "by": f.By, "dtype": r.o.DType, "size": size, "bytes": f.Bytes, "us": f.best(),
				"gbps": f.rate(), "of_copy": f.rate() / limit}
			if f.Error != "" {
				line = map[string]any{"op": f.Op, "by": f.By, "dtype": r.o.DType, "size": size, "not_measured": f.Error}
			}
			if err := w.Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(r.out, "\noperands of %d bytes\n", size)
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "operation\tin a graph\tcalled\tof the copy\t"
	for _, by := range tensorPeers {
		if r.o.Peers && !r.o.Emulated {
			head += by + "\tof the copy\t"
		}
	}
	fmt.Fprintln(w, head)
	for _, f := range ours {
		graph := "-"
		if f.Graph > 0 {
			graph = fmt.Sprintf("%.1f", float64(f.Bytes)/f.Graph/1e3)
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.2f\t", f.Op, graph, float64(f.Bytes)/f.Eager/1e3, f.rate()/limit)
		for _, by := range tensorPeers {
			i := slices.IndexFunc(theirs, func(t Figure) bool { return t.By == by && t.Op == f.Op && t.Error == "" })
			switch {
			case !r.o.Peers || r.o.Emulated:
			case i < 0:
				fmt.Fprint(w, "-\t-\t")
			default:
				fmt.Fprintf(w, "%.1f\t%.2f\t", theirs[i].rate(), theirs[i].rate()/limit)
			}
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
