package opbench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed fsdp.go.cell
var fsdpProgram string

// stepped is the result for a step of fully sharded training: microseconds, the maximum over ranks.
type stepped struct {
	Step float64 `json:"step_us,omitempty"`
}

// fsdpLayers is the number of layers of a step.
const fsdpLayers = 8

// FSDP measures a step of fully sharded training: a stack of layers whose weights are gathered
// before their products, forward and backward, and whose gradients are reduced and scattered after
// them; one after the other, and overlapped. o.Sizes are the bytes of a layer's weights. There are
// as many rows of activations as of weights.
func FSDP(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	r, err := start(ctx, s, ranks, o, out)
	if err != nil {
		return err
	}
	if r.world.spans() {
		return errors.New("fsdp: the copy engines stay within a host: leave --hosts out")
	}
	sides := []int{fsdpSide(r.extent.weights, DTypes[o.DType], ranks)}
	if len(o.Sizes) > 0 {
		sides = nil
		for _, n := range o.Sizes {
			sides = append(sides, fsdpSide(n, DTypes[o.DType], ranks))
		}
	}
	var theirs []Figure
	if o.Peers {
		var bytes []int
		for _, side := range sides {
			bytes = append(bytes, side*side*DTypes[o.DType])
		}
		theirs = r.peers([]string{"fsdp"}, bytes, strconv.Itoa(fsdpLayers))
	}
	if err := r.fsdpHeader(); err != nil {
		return err
	}
	for _, side := range sides {
		r.extent.side = side
		figures, err := r.cell(strings.NewReplacer("LAYERS", strconv.Itoa(fsdpLayers), "BATCH", strconv.Itoa(side)).Replace(fsdpProgram))
		if err != nil {
			return err
		}
		for _, f := range theirs {
			if f.Bytes == side*side*DTypes[o.DType] {
				if f.Way == "" {
					f.Way = f.By
				}
				figures = append(figures, f)
			}
		}
		if err := r.printFSDP(side, figures); err != nil {
			return err
		}
	}
	return nil
}

// fsdpSide returns the rows of a square matrix of so many bytes: a multiple of 16 for each rank.
func fsdpSide(bytes, width, ranks int) int {
	unit := 16 * ranks
	return max(int(math.Sqrt(float64(bytes/width)))/unit, 1) * unit
}

func (r *run) fsdpHeader() error {
	return r.begin(map[string]any{"layers": fsdpLayers},
		fmt.Sprintf("%s; a step of %d layers, forward and backward, whose weights and gradients are sharded", r.o.DType, fsdpLayers))
}

// printFSDP writes the table for square weights, or a line of JSON for every way.
func (r *run) printFSDP(side int, figures []Figure) error {
	bytes := side * side * DTypes[r.o.DType]
	var lines []map[string]any
	s := sheet{title: fmt.Sprintf("weights of %d rows and columns, %d bytes a layer", side, bytes), columns: []string{"gathers and scatters", "us a step"}}
	for _, f := range figures {
		line := map[string]any{"op": "fsdp", "way": f.Way, "bytes": bytes}
		if f.Error == "" {
			line["step_us"] = f.Step
			s.rows = append(s.rows, []string{f.Way, fmt.Sprintf("%.2f", f.Step)})
		} else {
			line["not_measured"] = f.Error
			s.notes = append(s.notes, f.Way+": "+f.Error)
		}
		lines = append(lines, line)
	}
	if r.o.JSON {
		return encode(r.out, lines)
	}
	return s.write(r.out)
}
