package shown

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/display"
	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/interp/run/stacks"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Values are the values of a cell's last expression.
type Values struct {
	mu       sync.Mutex
	pointers []reflect.Value // to the values
	texts    map[int]string  // of the values that describe themselves, by index
	forms    display.Data    // in which the value is shown besides text
	shown    bool
}

// Shown are the values that a cell has shown.
type Shown struct {
	Pointers []reflect.Value
	Texts    map[int]string
	Forms    display.Data
}

// Take returns the values that the last cell showed, and forgets them. It returns false if the cell
// showed nothing.
func (v *Values) Take() (Shown, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pointers := v.pointers
	v.pointers = nil
	return Shown{pointers, v.texts, v.forms}, v.shown
}

// SetAside forgets the values that the cell has shown until restore is called.
func (v *Values) SetAside() (restore func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	pointers, texts, forms, shown := v.pointers, v.texts, v.forms, v.shown
	v.pointers, v.texts, v.forms, v.shown = nil, nil, display.Data{}, false
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.pointers, v.texts, v.forms, v.shown = pointers, texts, forms, shown
	}
}

// Show stores the values of the cell's last expression.
func (v *Values) Show(pointers ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown = true
	for _, p := range pointers {
		v.pointers = append(v.pointers, reflect.ValueOf(p))
	}
}

// Describe stores the text by which value i describes itself. A nil pointer whose method panics is
// shown like other values.
func (v *Values) Describe(i int, f func() string) {
	text, ok := values.Say(f, stacks.PanicValue)
	v.mu.Lock()
	defer v.mu.Unlock()
	if value := v.pointers[i].Elem(); !ok && values.IsNil(value) {
		return
	}
	if v.texts == nil {
		v.texts = map[int]string{}
	}
	v.texts[i] = text
}

// Render stores the display forms of the cell's value. If there are several values, it uses the
// only one that is not nil, as in a picture and a nil error. If the forms include a text, it
// replaces the value's own text.
func (v *Values) Render(values ...any) {
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
	v.mu.Lock()
	defer v.mu.Unlock()
	if isText {
		if v.texts == nil {
			v.texts = map[int]string{}
		}
		v.texts[at] = text
	}
	if len(forms) > 0 {
		v.forms = display.Data{Data: forms, Metadata: metadata}
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
