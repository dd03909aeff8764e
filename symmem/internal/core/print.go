package symmem

import (
	"fmt"
	"html"
	"strings"

	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/symmem/internal/core/show"
)

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
	var text string
	if err := Maybe(func() { text = show.Preview(t.shown()) }); err != nil {
		return b.String() + ": " + err.(*Error).Msg
	}
	if !strings.HasPrefix(text, "\n") {
		text = " " + text
	}
	return b.String() + text
}

// HTML returns the tensor as a table in which each line is a row of the last dimension, with the kind
// of its memory, its least and greatest element, their mean, the number of NaN, and a heat map. Of a
// large tensor the table shows both ends, and of one of more than two dimensions with many rows the
// first slices of the last two have a tab each, and the last one has. Elements are rounded: those of
// bf16 to 3 digits, of f16 and f32 to 4, of f64 to 5. Of more than 2²⁸ elements, and under the sanitizer
// of more than 4096, there is only the table. It waits for the current stream. If the tensor cannot be
// read, it returns the reason.
func (t *Tensor) HTML() string {
	text, _ := t.forms()
	return text
}

// SimpleRender returns the result of HTML, and the elements in it, from which front ends show the
// tensors of several ranks together.
func (t *Tensor) SimpleRender() map[string]any {
	text, shown := t.forms()
	data := map[string]any{"text/html": text}
	if shown != nil {
		data[forms.TensorType] = forms.Encode(shown)
	}
	return data
}

func (t *Tensor) forms() (text string, shown *forms.Tensor) {
	if t == nil || t.st == nil {
		return "nil tensor", nil
	}
	if !t.st.isFreed() && t.n > 0 {
		if Maybe(func() { text, shown = show.HTML(t.shown()) }) == nil {
			return text, shown
		}
	}
	return html.EscapeString(t.String()), nil
}

// shown describes the tensor to package show.
func (t *Tensor) shown() show.Tensor {
	e := t.dtype.element()
	sanitized, _ := t.rt.Sanitized()
	return show.Tensor{Kind: t.kind(), Place: t.place(), Type: e, Shape: t.shape, N: t.n, Surveys: e.Computes() && !sanitized,
		Elements: shownElements{t}}
}

// shownElements are the elements of a tensor as package show asks for them.
type shownElements struct{ t *Tensor }

func (e shownElements) Read(lo, hi int) []byte {
	if lo == 0 && hi == e.t.n {
		return e.t.readToShow()
	}
	return e.t.View(e.t.n).Slice(lo, hi).readToShow()
}

func (e shownElements) Stats() (s show.Stats, ok bool) {
	err := Maybe(func() { s = show.Stats(e.t.Stats()) })
	return s, err == nil
}

func (e shownElements) Greatest(first, rows, columns int, parts ...int) (greatest []float64) {
	Maybe(func() { _, greatest = e.t.View(e.t.n/columns, columns).Slice(first, first+rows).Extremes(parts...) })
	return greatest
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
