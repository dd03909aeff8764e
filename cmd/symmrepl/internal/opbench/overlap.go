package opbench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

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
	return r.begin(map[string]any{"side": r.extent.side, "link_gbps": r.bounds.link()},
		fmt.Sprintf("%s; product of matrices of %d rows and columns, copies to all peers %.1f GB/s", r.o.DType, r.extent.side, r.bounds.copies),
		"us a call, alone and while the other goes on")
}

// printOverlap writes the table for parts of n bytes, or a line of JSON for every way.
func (r *run) printOverlap(n int, figures []Figure) error {
	var lines []map[string]any
	s := sheet{title: fmt.Sprintf("all-gather of %d bytes a rank", n),
		columns: []string{"all-gather by", "product", "beside it", "", "all-gather", "beside it", ""}}
	if r.bounds.copies > 0 {
		s.title += fmt.Sprintf(", at the copies' rate %.2f us", float64(n)*float64(r.ranks-1)/r.bounds.copies/1e3)
	}
	us := func(t float64) string { return fmt.Sprintf("%.2f", t) }
	more := func(beside, alone float64) string { return fmt.Sprintf("%+.1f %%", (beside/alone-1)*100) }
	for _, f := range figures {
		line := map[string]any{"op": "overlap", "way": f.Way, "bytes": n}
		if f.Error == "" {
			line["product_us"], line["product_beside_us"] = f.Product, f.ProductBeside
			line["gather_us"], line["gather_beside_us"] = f.Gather, f.GatherBeside
			s.rows = append(s.rows, []string{f.Way, us(f.Product), us(f.ProductBeside), more(f.ProductBeside, f.Product),
				us(f.Gather), us(f.GatherBeside), more(f.GatherBeside, f.Gather)})
		} else {
			line["not_measured"] = f.Error
			s.notes = append(s.notes, f.By+": "+f.Error)
		}
		lines = append(lines, line)
	}
	if r.o.JSON {
		return encode(r.out, lines)
	}
	return s.write(r.out)
}
