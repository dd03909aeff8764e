package interp

import (
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestRender checks the display forms of the last value of a cell.
func TestRender(t *testing.T) {
	in := open(t, Options{})
	for _, c := range []struct {
		source, text string
		data         map[string]any
	}{
		{`display.HTML("<b>x</b>")`, "<b>x</b>", map[string]any{"text/html": "<b>x</b>"}},
		{"display.Math(`e^x`)", "e^x", map[string]any{"text/latex": "$$e^x$$"}},
		{`display.PNG([]byte{1, 2})`, "(image/png, 2 bytes)", map[string]any{"image/png": []byte{1, 2}}},
		{"type H struct{}\nfunc (h H) HTML() string { return `<h2>x</h2>` }\nH{}", "H{}", map[string]any{"text/html": "<h2>x</h2>"}},
		{"&H{}", "&H{}", map[string]any{"text/html": "<h2>x</h2>"}},
		{"var a any = H{}\na", "H{}", map[string]any{"text/html": "<h2>x</h2>"}},
		{"type S struct{ a string }\nfunc (s S) SimpleRender() display.MIMEMap { return display.MIMEMap{display.MIMETypeLatex: s.a} }\nS{`$F$`}",
			`S{a: "$F$"}`, map[string]any{"text/latex": "$F$"}},
		{"type R struct{}\nfunc (r R) Render() display.Data { return display.Data{Data: display.MIMEMap{display.MIMETypeMarkdown: `*m*`, display.MIMETypeText: `m`}} }\nR{}",
			"m", map[string]any{"text/markdown": "*m*"}},
		{"type J struct{ n int }\nfunc (j *J) JSON() map[string]any { return map[string]any{`n`: j.n} }\n&J{3}",
			"&J{n: 3}", map[string]any{"application/json": map[string]any{"n": 3}}},
		{"J{3}", "J{n: 3}", nil}, // its pointer has the method
		{"type HS struct{ H }\nfunc (HS) String() string { return `s` }\nHS{}", "s", map[string]any{"text/html": "<h2>x</h2>"}},
		{"Display(display.HTML(`x`))", "", nil},
		{"5", "5", nil},
		{"H{}, 5", "H{}, 5", nil},
		// Of several values, the one that is not nil.
		{"func drawn() (H, error) { return H{}, nil }\ndrawn()", "H{}, nil", map[string]any{"text/html": "<h2>x</h2>"}},
		{"func late() (error, display.Data) { return nil, display.HTML(`x`) }\nlate()", "nil, x", map[string]any{"text/html": "x"}},
		{"func two() (H, any) { return H{}, 5 }\ntwo()", "H{}, 5", nil},
		{"func none() (any, error) { return nil, nil }\nnone()", "nil, nil", nil},
	} {
		r := evaluate(in, session.Cell{Source: c.source})
		if r.Err != nil {
			t.Errorf("%s: %v", c.source, r.Err)
			continue
		}
		if r.Value != c.text || !reflect.DeepEqual(r.Data, c.data) {
			t.Errorf("%s: %q %#v, want %q %#v", c.source, r.Value, r.Data, c.text, c.data)
		}
	}
	r := evaluate(in, session.Cell{Source: "display.MIME(display.MIMEMap{`image/png`: []byte{1}}, display.MIMEMap{`image/png`: display.MIMEMap{`width`: 8}})"})
	if want := map[string]any{"image/png": map[string]any{"width": 8}}; r.Err != nil || !reflect.DeepEqual(r.Metadata, want) {
		t.Errorf("%+v, want the metadata %v", r, want)
	}
	r = evaluate(in, session.Cell{Source: "type P struct{}\nfunc (P) SVG() string { panic(`no`) }\nP{}"})
	if r.Err == nil || r.Err.Msg != "no" && r.Err.Msg != "panic: no" {
		t.Errorf("a method that panics: %+v", r)
	}
	for _, source := range []string{"import `gonum.org/v1/plot`\np := plot.New()\np.Title.Text = `a title`\np", "var of any = p\nof"} {
		r := evaluate(in, session.Cell{Source: source})
		if svg, _ := r.Data["image/svg+xml"].(string); len(r.Data) != 2 || r.Data["image/png"] == nil ||
			!strings.Contains(svg, "<svg") || !strings.Contains(svg, "a title") || r.Value != "(*plot.Plot)(0x…)" {
			t.Errorf("%s: %+v", source, r)
		}
	}
	if r := evaluate(in, session.Cell{Source: "(*plot.Plot)(nil)"}); r.Err != nil || r.Data != nil {
		t.Errorf("no plot: %+v", r)
	}
}
