package opbench

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/symmrepl/symmrepl/session"
)

//go:embed overlap.go.cell
var overlapProgram string

// overlapped is the result for an all-gather and a matrix product: microseconds a call of each,
// alone and beside the other.
type overlapped struct {
	Way           string  `json:"way,omitempty"` // how the all-gather moves data
	Product       float64 `json:"product_us,omitempty"`
	ProductBeside float64 `json:"product_beside_us,omitempty"`
	Gather        float64 `json:"gather_us,omitempty"`
	GatherBeside  float64 `json:"gather_beside_us,omitempty"`
}

// Overlap measures an all-gather on one stream beside a matrix product on another: each alone, and
// while the other goes on. The all-gather is measured on multiprocessors and on copy engines.
// o.Sizes are the bytes of a rank's part.
func Overlap(ctx context.Context, s session.Session, ranks int, o Options, out io.Writer) error {
	r, err := start(ctx, s, ranks, o, out)
	if err != nil {
		return err
	}
	if r.world.spans() {
		return errors.New("overlap: the all-gather of copy engines stays within a host: leave --hosts out")
	}
	parts := o.Sizes
	if len(parts) == 0 {
		parts = []int{r.extent.part}
	}
	var theirs []Figure
	if o.Peers {
		theirs = r.peers([]string{"overlap"}, parts, strconv.Itoa(r.extent.side))
	}
	if err := r.overlapHeader(); err != nil {
		return err
	}
	for _, n := range parts {
		source := strings.NewReplacer("ELEMENTS", strconv.Itoa(max(n/DTypes[o.DType], 1)), "BYTES", strconv.Itoa(n)).Replace(overlapProgram)
		figures, err := r.cell(source)
		if err != nil {
			return err
		}
		for _, f := range theirs {
			if f.Bytes == n {
				f.Way = f.By
				figures = append(figures, f)
			}
		}
		if err := r.printOverlap(n, figures); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) overlapHeader() error {
	if r.o.JSON {
		return r.head(map[string]any{"side": r.extent.side, "link_gbps": r.bounds.link()})
	}
	_, err := fmt.Fprintf(r.out, "%s, %s, %s; product of matrices of %d rows and columns, copies to all peers %.1f GB/s\nus a call, alone and while the other goes on\n",
		r.device, session.FormatSize(r.ranks), r.o.DType, r.extent.side, r.bounds.copies)
	for _, line := range r.remarks() {
		fmt.Fprintln(r.out, line)
	}
	return err
}

// printOverlap writes the table for parts of n bytes, or a line of JSON for every way.
func (r *run) printOverlap(n int, figures []Figure) error {
	if r.o.JSON {
		w := json.NewEncoder(r.out)
		for _, f := range figures {
			line := map[string]any{"op": "overlap", "way": f.Way, "bytes": n, "not_measured": f.Error}
			if f.Error == "" {
				line = map[string]any{"op": "overlap", "way": f.Way, "bytes": n, "product_us": f.Product,
					"product_beside_us": f.ProductBeside,
					"gather_us":         f.Gather, "gather_beside_us": f.GatherBeside}
			}
			if err := w.Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintf(r.out, "\nall-gather of %d bytes a rank", n)
	if r.bounds.copies > 0 {
		fmt.Fprintf(r.out, ", at the copies' rate %.2f us", float64(n)*float64(r.ranks-1)/r.bounds.copies/1e3)
	}
	fmt.Fprintln(r.out)
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "all-gather by\tproduct\tbeside it\t\tall-gather\tbeside it\t\t")
	for _, f := range figures {
		if f.Error == "" {
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%+.1f %%\t%.2f\t%.2f\t%+.1f %%\t\n", f.Way, f.Product, f.ProductBeside,
				(f.ProductBeside/f.Product-1)*100,
				f.Gather, f.GatherBeside, (f.GatherBeside/f.Gather-1)*100)
		}
	}
	err := w.Flush()
	for _, f := range figures {
		if f.Error != "" {
			fmt.Fprintf(r.out, "  %s: %s\n", f.By, f.Error)
		}
	}
	return err
}
