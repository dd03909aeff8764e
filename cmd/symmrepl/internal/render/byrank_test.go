package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/internal/tabs"
	"github.com/symmrepl/symmrepl/session"
)

// value is a value of ranks in one form.
func value(form, text string, ranks ...int) session.Value {
	return session.Value{Ranks: ranks, Data: map[string]any{form: text}}
}

// tabbed is a row of tabs, of which one is open.
func tabbed(open int, labelsAndHTML ...string) string {
	var b strings.Builder
	b.WriteString(tabs.Style + `<div class="symm-tabs">`)
	for i := 0; i < len(labelsAndHTML); i += 2 {
		attribute, class := "", ""
		if i/2 == open {
			attribute = ` open=""`
		}
		if strings.HasPrefix(labelsAndHTML[i], "✗") {
			class = ` class="symm-failed"`
		}
		fmt.Fprintf(&b, `<details name="symm-tabs"%s><summary%s>%s</summary>%s</details>`, attribute, class, labelsAndHTML[i], labelsAndHTML[i+1])
	}
	return b.String() + "</div>"
}

const rowStart = `<tr><th style="text-align:left">%s</th><td style="text-align:left">` + pre + `%s</pre></td></tr>`

// compared is a table of labels and lines.
func compared(labelsAndLines ...string) string {
	var b strings.Builder
	for i := 0; i < len(labelsAndLines); i += 2 {
		fmt.Fprintf(&b, rowStart, labelsAndLines[i], labelsAndLines[i+1])
	}
	return `<table class="dataframe symm-differences">` + b.String() + "</table>"
}

func TestByRank(t *testing.T) {
	failed := &session.Error{Kind: session.KindPanic, Ranks: []int{1}, Peer: -1, File: "In[2]", Line: 1, Column: 3,
		Msg: "index <9>", Source: "a[9]", Hint: "a hint"}
	for name, c := range map[string]struct {
		values []session.Value
		errs   []*session.Error
		want   string
	}{
		"HTML": {[]session.Value{value("text/html", "<b>a</b>", 0), value("text/html", "c", 1, 2, 3)}, nil,
			tabbed(0, "rank 0", "<b>a</b>", "ranks 1-3", "c")},
		"HTML and text": {[]session.Value{value("text/html", "a", 0), {Ranks: []int{1}, Text: "<"}}, nil,
			tabbed(0, "rank 0", "a", "rank 1", pre+"&lt;</pre>")},
		"pictures": {[]session.Value{value("image/svg+xml", "<svg/>", 0), value("image/png", "YQ==", 1)}, nil,
			tabbed(0, "rank 0", "<svg/>", "rank 1", `<img src="data:image/png;base64,YQ==">`)},
		"text of displays": {[]session.Value{{Ranks: []int{0}, Text: "a", Data: map[string]any{"text/plain": "a"}}, {Ranks: []int{1}, Text: "a"}}, nil,
			tabbed(0, "rank 0", pre+"a</pre>", "rank 1", pre+"a</pre>", "differences", compared("all", "a"))},
		"a form that is no HTML": {[]session.Value{value("text/html", "a", 0), value("text/latex", "$x$", 1)}, nil, ""},
		"one value":              {[]session.Value{value("text/html", "a", 0)}, nil, ""},
		"one error":              {nil, []*session.Error{failed}, ""},
		"texts": {[]session.Value{{Ranks: []int{0}, Text: "a <b>\nx = 1 kg"}, {Ranks: []int{1, 2}, Text: "a <b>\nx = 25 kg\nmore\x1b"}}, nil,
			tabbed(0, "rank 0", pre+"a &lt;b&gt;\nx = 1 kg</pre>", "ranks 1,2", pre+"a &lt;b&gt;\nx = 25 kg\nmore\\x1b</pre>",
				"differences", compared("all", "a &lt;b&gt;", "rank 0", "x = <mark>1</mark> kg", "ranks 1,2",
					"x = <mark>25</mark> kg", "rank 0", "<i>no line</i>", "ranks 1,2", "<mark>more\\x1b</mark>"))},
		"a value and an error": {[]session.Value{{Ranks: []int{0, 2}, Text: "5"}}, []*session.Error{failed},
			tabbed(1, "ranks 0,2", pre+"5</pre>", "✗ rank 1", pre+"<b>In[2]:1:3: index &lt;9&gt;</b>\n    a[9]\n      ^\n    hint: a hint</pre>")},
		"errors": {nil, []*session.Error{{Ranks: []int{1}, Msg: "x is 1"}, {Ranks: []int{0}, Msg: "x is 2"}},
			tabbed(0, "✗ rank 0", pre+"<b>x is 2</b></pre>", "✗ rank 1", pre+"<b>x is 1</b></pre>",
				"differences", compared("rank 0", "x is <mark>2</mark>", "rank 1", "x is <mark>1</mark>"))},
	} {
		if got := ByRank(c.values, c.errs); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// tensorOf is a tensor of two elements as a value of a rank.
func tensorOf(rank int, kind string, parts ...forms.Part) session.Value {
	v := value("text/html", fmt.Sprint("t", rank), rank)
	v.Data[forms.TensorType] = forms.Encode(forms.Tensor{Kind: kind, NaN: rank, Min: "1", Max: fmt.Sprint(2 + rank), Mean: "1.5", Parts: parts})
	return v
}

func TestDifferences(t *testing.T) {
	part := func(cells ...string) forms.Part {
		return forms.Part{Name: "[0]", Rows: []string{"0", "…"}, Columns: []string{"0", "…", "7"}, Cells: [][]string{cells, nil}}
	}
	got := ByRank([]session.Value{tensorOf(0, "f32[2]", part("1", "…", "2.25")), tensorOf(1, "f32[2]", part("1", "…", "3"))}, nil)
	want := tabbed(0, "rank 0", "t0", "rank 1", "t1", "differences",
		`<table class="dataframe"><tr><th></th><th>min</th><th>max</th><th>mean</th><th>NaN</th></tr>`+
			`<tr><th>rank 0</th><td>1</td><td><b>2</b></td><td>1.5</td><td><b>0</b></td></tr><tr><th>rank 1</th><td>1</td><td><b>3</b></td><td>1.5</td><td><b>1</b></td></tr></table>`+
			`<div>The greatest less the least over the ranks: 1 of the 2 elements shown differ. <code>%diff x</code> compares all elements of a tensor x.</div>`+
			`<div>[0]</div><table class="dataframe"><tr><th></th><th>0</th><th>…</th><th>7</th></tr><tr><th>0</th><td>0</td><td>…</td><td><b>0.75</b></td></tr><tr><th>…</th></tr></table>`)
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	// Tensors of different types have no differences.
	if got, want := ByRank([]session.Value{tensorOf(0, "f32[2]"), tensorOf(1, "f32[3]")}, nil), tabbed(0, "rank 0", "t0", "rank 1", "t1"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	heat := func(rank int, numbers string) session.Value {
		v := value("image/png", "YQ==", rank)
		v.Data[forms.ChartType] = `{"Heat":` + numbers + `}`
		return v
	}
	for numbers, has := range map[string]bool{"[[1,null],[3,5]]": true, "[[1,2]]": false, "[[1],[2]]": false, "[]": false, "[[1,2],[3]]": false} {
		got := strings.Contains(ByRank([]session.Value{heat(0, "[[1,2],[3,4]]"), heat(1, numbers)}, nil), "<summary>differences</summary>")
		if got != has {
			t.Errorf("%s: has differences: %v, want %v", numbers, got, has)
		}
	}
	long := strings.Repeat("same\n", 9)
	if got, want := textDifferences([]group{{ranks: []int{0}, text: long + "1"}, {ranks: []int{1}, text: long + "2"}}),
		compared("", "… 9 equal lines", "rank 0", "<mark>1</mark>", "rank 1", "<mark>2</mark>"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMarkedWords(t *testing.T) {
	for _, c := range [][2][]string{
		{{"a 1 b 2", "a 3 b 4"}, {"a <mark>1</mark> b <mark>2</mark>", "a <mark>3</mark> b <mark>4</mark>"}},
		{{"[1 2]", "[1 2 3]"}, {"[1 2]", "[1 2<mark> 3</mark>]"}},
		{{"loss 1.25", "loss 1.5"}, {"loss <mark>1.25</mark>", "loss <mark>1.5</mark>"}},
		{{"<", ">"}, {"<mark>&lt;</mark>", "<mark>&gt;</mark>"}},
	} {
		if got := markedWords(c[0]); strings.Join(got, "\n") != strings.Join(c[1], "\n") {
			t.Errorf("%q, want %q", got, c[1])
		}
	}
}

func TestUnprefixed(t *testing.T) {
	for text, want := range map[string]string{
		"[0-3] In[1]:1: a\n[0-3]     b\n[0-3]     ^\n[0-3] In[1]:2: c\n[0-3]     d": "[0-3] In[1]:1: a\n    b\n    ^\n[0-3] In[1]:2: c\n    d",
		"[0] \x1b[1ma\x1b[0m\n[0]     b\n[0] \x1b[1m    ^\x1b[0m":                   "[0] \x1b[1ma\x1b[0m\n    b\n\x1b[1m    ^\x1b[0m",
		"[0] a\n[1]     b": "[0] a\n[1]     b",
		"a\n    b":         "a\n    b",
		"[x] a\n[x]     b": "[x] a\n[x]     b",
	} {
		if got := Unprefixed(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzDifferences gives arbitrary data of ranks to the forms of a page: nothing of it becomes an
// element of HTML, and nothing panics.
func FuzzDifferences(f *testing.F) {
	f.Add("a <i>\nb", `{"Kind":"<i>","Parts":[{"Name":"<i>","Rows":["<i>"],"Columns":["<i>"],"Cells":[["<i>"]]}]}`, `{"Heat":[[1,2],[3]]}`)
	f.Add("", `{"Parts":[{"Rows":["0","1"],"Cells":[["1"]]}]}`, `{"Heat":[[]]}`)
	f.Fuzz(func(t *testing.T, text, tensor, heat string) {
		if len(heat) > 4096 {
			return
		}
		of := func(rank int, text string) group {
			return group{ranks: []int{rank}, text: text, data: map[string]any{forms.TensorType: tensor, forms.ChartType: heat}}
		}
		for _, page := range []string{differences([]group{of(0, text), of(1, text+"\nx")}), heatDifferences([]group{of(0, ""), of(1, "")}),
			textDifferences([]group{of(0, text), of(1, "x "+text)})} {
			if strings.Contains(page, "<i>") && !strings.Contains(page, "<i>no line</i>") {
				t.Errorf("%q is in %s", "<i>", page)
			}
		}
	})
}
