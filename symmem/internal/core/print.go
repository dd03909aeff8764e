package symmem

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// previewed is the number of elements that String shows at each end.
const previewed = 4

// String returns the type, the shape, the kind of memory, and the first and last elements, for two
// dimensions as a table. It waits for the current stream. If the elements cannot be read, it
// returns the reason in their place.
func (t *Tensor) String() string {
	if t == nil || t.st == nil {
		return "nil tensor"
	}
	var b strings.Builder
	b.WriteString(t.kind() + " on " + t.place())
	if t.st.isFreed() {
		return b.String() + ", freed"
	}
	text, err := t.preview()
	if err != nil {
		return b.String() + ": " + err.(*Error).Msg
	}
	if !strings.HasPrefix(text, "\n") {
		text = " " + text
	}
	return b.String() + text
}

// place returns the device, and the kind of memory if it is no local memory.
func (t *Tensor) place() string {
	switch {
	case t.st.peer != t.rt.rank:
		return fmt.Sprintf("%s, memory of rank %d", t.rt.DeviceName(), t.st.peer)
	case t.st.alloc != nil:
		return t.rt.DeviceName() + ", symmetric"
	case t.Memory() == "host":
		return "host, pinned for " + t.rt.DeviceName()
	}
	return t.rt.DeviceName()
}

// String is, for example, "handle of f32[4] in world".
func (h *Handle) String() string {
	if h == nil || h.t == nil {
		return "nil handle"
	}
	text := fmt.Sprintf("handle of %s in %v", h.t.kind(), h.g)
	if a := h.t.st.alloc; h.t.Bytes() < a.size {
		text = fmt.Sprintf("handle of %s, elements %d to %d of a tensor whose signal pad it shares, in %v", h.t.kind(),
			h.t.offset/h.t.dtype.Size(), h.t.offset/h.t.dtype.Size()+h.t.n-1, h.g)
	}
	if h.t.st.isFreed() {
		text += ", freed"
	}
	return text
}

// String is, for example, "stream 1".
func (s *Stream) String() string {
	if s == nil || s.rt == nil {
		return "nil stream"
	}
	return fmt.Sprintf("stream %d", s.id)
}

// String is "event".
func (e *Event) String() string {
	if e == nil || e.rt == nil {
		return "nil event"
	}
	return "event"
}

// String is "graph".
func (g *Graph) String() string {
	if g == nil || g.rt == nil {
		return "nil graph"
	}
	return "graph"
}

func (t *Tensor) preview() (text string, err error) {
	err = Maybe(func() {
		if len(t.shape) == 2 && t.shape[0] > 1 && t.n > 0 {
			text = t.rows()
			return
		}
		var parts []string
		if t.n <= 2*previewed+1 {
			parts = t.texts(t)
		} else {
			flat := t.View(t.n)
			parts = append(t.texts(flat.Slice(0, previewed)), "…")
			parts = append(parts, t.texts(flat.Slice(t.n-previewed, t.n))...)
		}
		text = "[" + strings.Join(parts, " ") + "]"
	})
	return text, err
}

// rows returns the rows of a tensor of two dimensions, each on a line, with columns aligned to the
// right. "…" stands for the middle of many rows or columns.
func (t *Tensor) rows() string {
	columns := t.shape[1]
	flat := t.View(t.n)
	var table [][]string
	ends(t.shape[0], func(lo, hi int) {
		for row := lo; row < hi; row++ {
			var line []string
			ends(columns, func(lo, hi int) {
				line = append(line, t.texts(flat.Slice(row*columns+lo, row*columns+hi))...)
			}, func() { line = append(line, "…") })
			table = append(table, line)
		}
	}, func() { table = append(table, []string{"…"}) })
	width := make([]int, 2*previewed+1)
	for _, line := range table {
		for i, text := range line {
			if len(line) > 1 || columns == 1 {
				width[i] = max(width[i], utf8.RuneCountInString(text))
			}
		}
	}
	var b strings.Builder
	for _, line := range table {
		b.WriteString("\n ")
		for i, text := range line {
			b.WriteString(" " + strings.Repeat(" ", max(width[i]-utf8.RuneCountInString(text), 0)) + text)
		}
	}
	return b.String()
}

// ends calls write for all of n items, or for the first and the last, with gap between them.
func ends(n int, write func(lo, hi int), gap func()) {
	if n <= 2*previewed+1 {
		write(0, n)
		return
	}
	write(0, previewed)
	gap()
	write(n-previewed, n)
}

func (t *Tensor) texts(part *Tensor) []string {
	data := part.readToShow()
	out := make([]string, part.n)
	for i := range out {
		out[i] = t.dtype.text(data, i)
	}
	return out
}

// readToShow is read for callers that show an error in place of the elements. An error of earlier
// work is kept for the next synchronisation, which reports it.
func (t *Tensor) readToShow() (data []byte) {
	rt := t.rt
	refused := rt.abort.Load() != nil
	err := Maybe(func() { data = t.read("String", t.n) })
	if err == nil {
		return data
	}
	if e := err.(*Error); !refused && e.Kind != KindMisuse {
		rt.mu.Lock()
		if rt.unreported == nil {
			rt.unreported = e
		}
		rt.mu.Unlock()
	}
	panic(err)
}

// text returns element i of data as text.
func (d DType) text(data []byte, i int) string {
	switch e := d.element(); {
	case d == F64:
		return strconv.FormatFloat(e.Float(e.BitsAt(data, i)), 'g', -1, 64)
	case e.IsFloat():
		return strconv.FormatFloat(e.Float(e.BitsAt(data, i)), 'g', 6, 32)
	case e.IsComplex():
		part := DType(e.Part())
		return complexText(part.text(data, 2*i), part.text(data, 2*i+1))
	case d == Bool:
		return strconv.FormatBool(data[i] != 0)
	case d == U64:
		return strconv.FormatUint(e.BitsAt(data, i), 10)
	default:
		return strconv.FormatInt(e.Integer(e.BitsAt(data, i)), 10)
	}
}

// complexText returns the number with these parts as Go writes it: 1.5-2i.
func complexText(re, im string) string {
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return re + im + "i"
}
