package debugadapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-dap"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

const (
	fetched  = 1024             // elements that one cell reads
	chunk    = 64               // rows of one dimension that are opened together
	lookTime = 10 * time.Second // for which a cell that reads values may wait
)

// tensor is a tensor that a client opens.
type tensor struct {
	of    string // an expression
	ranks []int  // whose tensors are shown as one
	frame int    // of these ranks, in which of is evaluated, or idle
	size  int64  // bytes
	info  session.TensorInfo
}

// tensorRows returns rows that describe a tensor and, when they are opened, show its elements.
func (a *Adapter) tensorRows(ctx context.Context, t tensor) ([]row, error) {
	device, err := a.deviceOf(ctx, t.ranks)
	if err != nil {
		return nil, err
	}
	rows := []row{
		{name: "dtype", value: t.info.DType},
		{name: "shape", value: formatShape(t.info.Shape)},
		{name: "device", value: device},
		{name: "memory", value: t.info.Memory},
		{name: "bytes", value: strconv.FormatInt(t.size, 10)},
	}
	if t.info.Memory == "freed" || slices.Contains(t.info.Shape, 0) {
		return rows, nil
	}
	part := slice{tensor: t, hi: 1}
	if len(t.info.Shape) > 0 {
		part.hi = t.info.Shape[0]
	}
	rows = append(rows, row{name: "values", kind: t.info.DType + formatShape(t.info.Shape), open: a.opens(part)})
	if t.frame == idle {
		rows = append(rows, row{name: "statistics", value: "NaN, infinity, least, greatest, mean",
			open: func(ctx context.Context) ([]dap.Variable, error) {
				rows, err := a.statistics(ctx, t)
				return a.toDAP(rows), err
			}})
	}
	return rows, nil
}

// deviceOf names the devices of ranks.
func (a *Adapter) deviceOf(ctx context.Context, ranks []int) (string, error) {
	infos, err := a.console.Session.Ranks(ctx)
	if err != nil {
		return "", err
	}
	var names []string
	for _, info := range infos {
		if slices.Contains(ranks, info.Rank) && !slices.Contains(names, info.Device) {
			names = append(names, info.Device)
		}
	}
	return strings.Join(names, ", "), nil
}

// slice is the part of a tensor with the indices at in its first dimensions and those from lo to hi
// in the next one.
type slice struct {
	tensor
	at     []int
	lo, hi int
}

// inner returns the number of elements below one index of the slice's dimension.
func (s slice) inner() int {
	n := 1
	for _, d := range s.info.Shape[min(len(s.at)+1, len(s.info.Shape)):] {
		n *= d
	}
	return n
}

// first returns the number of the slice's first element in the tensor.
func (s slice) first() int {
	n := 0
	for i, d := range s.info.Shape {
		n *= d
		switch {
		case i < len(s.at):
			n += s.at[i]
		case i == len(s.at):
			n += s.lo
		}
	}
	return n
}

// opens returns the opener of a slice.
func (a *Adapter) opens(s slice) opener {
	return func(ctx context.Context) ([]dap.Variable, error) {
		rows, err := a.sliceRows(ctx, s)
		return a.toDAP(rows), err
	}
}

// sliceRows returns a row for each index of a slice, or for each chunk of many indices.
func (a *Adapter) sliceRows(ctx context.Context, s slice) ([]row, error) {
	var rows []row
	if step := s.step(); step > 1 {
		for lo := s.lo; lo < s.hi; lo += step {
			part := s
			part.lo, part.hi = lo, min(lo+step, s.hi)
			rows = append(rows, row{name: fmt.Sprintf("[%d:%d]", part.lo, part.hi), open: a.opens(part)})
		}
		return rows, nil
	}
	inner := s.inner()
	var values []string
	if inner*(s.hi-s.lo) <= fetched {
		var err error
		if values, err = a.elements(ctx, s.tensor, s.first(), inner*(s.hi-s.lo)); err != nil {
			return nil, err
		}
	}
	last := len(s.at) >= len(s.info.Shape)-1
	for i := s.lo; i < s.hi; i++ {
		r := row{name: fmt.Sprintf("[%d]", i)}
		if len(values) >= (i-s.lo+1)*inner {
			r.value = strings.Join(values[(i-s.lo)*inner:(i-s.lo+1)*inner], " ")
		}
		if !last {
			below := slice{tensor: s.tensor, at: append(slices.Clone(s.at), i), hi: s.info.Shape[len(s.at)+1]}
			r.kind, r.open = s.info.DType+formatShape(s.info.Shape[len(s.at)+1:]), a.opens(below)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// step returns the number of indices for which a row of the slice stands: 1, or a power of chunk.
func (s slice) step() int {
	step := 1
	for (s.hi-s.lo+step-1)/step > chunk {
		step *= chunk
	}
	return step
}

// elements returns n elements of a tensor from the first on, as text, on the first of its ranks.
func (a *Adapter) elements(ctx context.Context, t tensor, first, n int) ([]string, error) {
	all := "Float64s"
	switch {
	case strings.HasPrefix(t.info.DType, "i"), strings.HasPrefix(t.info.DType, "u"), t.info.DType == "bool":
		all = "Ints"
	case t.info.DType != "f64":
		all = "Float32s"
	}
	expression := fmt.Sprintf("fmt.Sprint((%s).View(-1).Slice(%d, %d).%s())", t.of, first, first+n, all)
	var reply session.Reply
	var err error
	if t.frame == idle {
		reply, err = a.cell(ctx, session.Cell{Source: expression, Name: "variables", Silent: true, Ranks: t.ranks[:1]})
	} else {
		reply, err = a.evaluateIn(ctx, t.ranks[:1], t.frame, expression)
	}
	if err != nil {
		return nil, err
	}
	if len(reply.Values) == 0 {
		return nil, errors.New("the rank has not answered")
	}
	text, err := strconv.Unquote(reply.Values[0].Text)
	return strings.Fields(strings.Trim(text, "[]")), err
}

// statistics returns the statistics of a tensor's elements, which a rank's device calculates.
func (a *Adapter) statistics(ctx context.Context, t tensor) ([]row, error) {
	var list []console.Statistics
	var errs []*session.Error
	err := a.look(ctx, func(ctx context.Context) {
		list, errs = a.console.Statistics(ctx, console.Request{}, t.ranks[:1], t.of)
	})
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return nil, errs[0]
	case len(list) == 0:
		return nil, errors.New("the rank has not answered")
	}
	s := list[0]
	rows := []row{{name: "NaN", value: strconv.Itoa(s.NaN)}, {name: "infinite", value: strconv.Itoa(s.Infinite)}}
	if s.Min != "" {
		rows = append(rows, row{name: "min", value: s.Min}, row{name: "max", value: s.Max}, row{name: "mean", value: s.Mean},
			row{name: "deviation", value: s.Deviation})
	}
	return rows, nil
}

// errBusy is the error of a look at values while a cell runs.
var errBusy = errors.New("a cell runs: the elements of tensors can be read when it is done")

// look calls work, which looks at values by cells, if no cell runs. A look ends with errBusy when the
// ranks have only waited for lookTime.
func (a *Adapter) look(ctx context.Context, work func(context.Context)) error {
	if runs, waits := a.busy(ctx); runs || waits {
		return errBusy
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go a.limit(ctx, cancel)
	work(ctx)
	if errors.Is(context.Cause(ctx), errBusy) {
		return errBusy
	}
	return nil
}

// limit asks the ranks from time to time whether they compute, and cancels a look when no rank has
// computed for lookTime. The look itself has no limit, because values take longer on a busy machine
// or while kernels are compiled.
func (a *Adapter) limit(ctx context.Context, cancel context.CancelCauseFunc) {
	for waited := time.Duration(0); waited < lookTime; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookTime / 10):
		}
		if runs, _ := a.busy(ctx); runs {
			waited = 0
		} else {
			waited += lookTime / 10
		}
	}
	cancel(errBusy)
}

// busy reports whether a rank computes and whether one waits in a cell.
func (a *Adapter) busy(ctx context.Context) (runs, waits bool) {
	infos, _ := a.console.Session.Ranks(ctx) // the error of a session that has ended comes from the work
	for _, i := range infos {
		runs = runs || i.State == "running"
		waits = waits || i.State == "waiting"
	}
	return runs, waits
}

// formatShape is "[4, 4]", as tensors print it.
func formatShape(shape []int) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ")
}
