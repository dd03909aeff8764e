package symmem

import (
	"fmt"
	"strconv"
	"strings"
)

// previewed is how many elements String shows at each end.
const previewed = 4

// String shows the type, the shape, where the tensor is, and its first and last elements: it waits for the
// current stream. What cannot be read is said instead.
func (t *Tensor) String() string {
	if t == nil {
		return "nil tensor"
	}
	var b strings.Builder
	b.WriteString(t.kind() + " on " + t.rt.DeviceName())
	switch {
	case t.st.peer != t.rt.rank:
		fmt.Fprintf(&b, ", memory of rank %d", t.st.peer)
	case t.st.alloc != nil:
		b.WriteString(", symmetric")
	}
	if t.st.freed.Load() {
		return b.String() + ", freed"
	}
	text, err := t.preview()
	if err != nil {
		return b.String() + ": " + err.(*Error).Msg
	}
	return b.String() + " " + text
}

// String is such as "handle of f32[4] in world".
func (h *Handle) String() string {
	text := fmt.Sprintf("handle of %s in %v", h.t.kind(), h.g)
	if h.t.st.freed.Load() {
		text += ", freed"
	}
	return text
}

// String is such as "stream 1".
func (s *Stream) String() string { return fmt.Sprintf("stream %d", s.id) }

// String is "event".
func (e *Event) String() string { return "event" }

// String is "graph".
func (g *Graph) String() string { return "graph" }

// String is such as "grid 8" or "grid 8,2".
func (g GridSize) String() string { return "grid " + joined(g.dims) }

// String is such as "block 256" or "block 16,16".
func (b BlockSize) String() string { return "block " + joined(b.dims) }

func (t *Tensor) preview() (text string, err error) {
	err = Maybe(func() {
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

func (t *Tensor) texts(part *Tensor) []string {
	data := part.read("String", part.n)
	out := make([]string, part.n)
	for i := range out {
		bits := t.dtype.bitsAt(data, i)
		switch {
		case t.dtype == F64:
			out[i] = strconv.FormatFloat(t.dtype.float(bits), 'g', -1, 64)
		case t.dtype.isFloat():
			out[i] = strconv.FormatFloat(t.dtype.float(bits), 'g', 6, 32)
		case t.dtype == U64:
			out[i] = strconv.FormatUint(bits, 10)
		default:
			out[i] = strconv.FormatInt(t.dtype.integer(bits), 10)
		}
	}
	return out
}

// DeviceName is "cuda:2" or "cpu".
func (rt *Runtime) DeviceName() string {
	if rt.info.Kind == "cpu" {
		return "cpu"
	}
	return fmt.Sprintf("%s:%d", rt.info.Kind, rt.info.Index)
}
