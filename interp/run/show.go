package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/symmrepl/symmrepl/display"
	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Shown are the values of a cell's last expression.
type Shown struct {
	Pointers []reflect.Value // to the values
	Texts    map[int]string  // of the values that describe themselves, by index
	Forms    display.Data    // in which the value is shown besides text
}

// Take returns the values that the last cell showed, and forgets them. It returns false if the cell
// showed nothing.
func (rt *Runtime) Take() (Shown, bool) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	pointers := rt.values
	rt.values = nil
	return Shown{pointers, rt.texts, rt.forms}, rt.shown
}

// setAside forgets the values that the cell has shown until restore is called.
func (rt *Runtime) setAside() (restore func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	values, texts, forms, shown := rt.values, rt.texts, rt.forms, rt.shown
	rt.values, rt.texts, rt.forms, rt.shown = nil, nil, display.Data{}, false
	return func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.values, rt.texts, rt.forms, rt.shown = values, texts, forms, shown
	}
}

// show stores the values of the cell's last expression.
func (rt *Runtime) show(pointers ...any) {
	rt.host.Showing()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.shown = true
	for _, p := range pointers {
		rt.values = append(rt.values, reflect.ValueOf(p))
	}
}

// describe stores the text by which value i describes itself. A nil pointer whose method panics is
// shown like other values.
func (rt *Runtime) describe(i int, f func() string) {
	text, ok := values.Say(f, stacks.PanicValue)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if v := rt.values[i].Elem(); !ok && values.IsNil(v) {
		return
	}
	if rt.texts == nil {
		rt.texts = map[int]string{}
	}
	rt.texts[i] = text
}

// render stores the display forms of the cell's value. If there are several values, it uses the
// only one that is not nil, as in a picture and a nil error. If the forms include a text, it
// replaces the value's own text.
func (rt *Runtime) render(values ...any) {
	at := slices.IndexFunc(values, func(x any) bool { return x != nil })
	if at < 0 || slices.ContainsFunc(values[at+1:], func(x any) bool { return x != nil }) {
		return
	}
	d, ok := display.Render(values[at])
	if p, is := values[at].(*plot.Plot); is && p != nil {
		d, ok = picture(p), true
	}
	if !ok {
		return
	}
	forms, metadata := plainMap(d.Data, 0), plainMap(d.Metadata, 0)
	text, isText := forms[display.MIMETypeText].(string)
	delete(forms, display.MIMETypeText)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if isText {
		if rt.texts == nil {
			rt.texts = map[int]string{}
		}
		rt.texts[at] = text
	}
	if len(forms) > 0 {
		rt.forms = display.Data{Data: forms, Metadata: metadata}
	}
}

// plainMap returns a map with plain values, nil for nil.
func plainMap(parts map[string]any, depth int) map[string]any {
	if parts == nil {
		return nil
	}
	out := make(map[string]any, len(parts))
	for key, part := range parts {
		out[key] = plain(part, depth+1)
	}
	return out
}

// deepest is the depth of nested forms beyond which plain does not look at parts one by one.
const deepest = 100

// plain returns a form with its parts that are not plain values in the way that JSON encodes them:
// methods of cells' values that encode them run now, as code of the cell. Parts that cannot be
// encoded stay as they are.
func plain(form any, depth int) any {
	switch form := form.(type) {
	case nil, bool, string, []byte, int, int32, int64, uint8, uint32, uint64, float32, float64:
		return form
	case map[string]any:
		if depth < deepest {
			return plainMap(form, depth)
		}
	case []any:
		if depth < deepest {
			parts := make([]any, len(form))
			for i, part := range form {
				parts[i] = plain(part, depth+1)
			}
			return parts
		}
	}
	b, err := json.Marshal(form)
	var decoded any
	if err != nil || json.Unmarshal(b, &decoded) != nil {
		return form
	}
	return decoded
}

// picture returns the display forms of a gonum plot, which has none of its own: it is drawn in the
// size of package chart's plots, as SVG, and as PNG for notebooks that do not trust SVG. Its text
// is not replaced.
func picture(p *plot.Plot) display.Data {
	file := func(format string) []byte {
		drawn, err := p.WriterTo(5*vg.Inch, 3*vg.Inch, format)
		var b bytes.Buffer
		if err == nil {
			_, err = drawn.WriteTo(&b)
		}
		if err != nil {
			panic(fmt.Errorf("the plot cannot be drawn: %w", err))
		}
		return b.Bytes()
	}
	return display.Data{Data: display.MIMEMap{display.MIMETypeSVG: string(file("svg")), display.MIMETypePNG: file("png")}}
}
