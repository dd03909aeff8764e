package notebook

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/chart"
	"github.com/symmrepl/symmrepl/internal/forms"
	"github.com/symmrepl/symmrepl/session"
)

// published are the messages of a screen, each as its type and the parts that the tests look at.
type published []string

func (p *published) screen(size int) *Screen {
	return NewScreen(size, "In[1]", "id", 1, func(kind string, c any) {
		text := kind
		switch c := c.(type) {
		case Failure:
			text += " " + strings.Join(c.Traceback, "|")
		case Content:
			if said, ok := c["text"].(string); ok {
				text += " " + said
			}
			if data, ok := c["data"].(Content); ok {
				for _, form := range []string{"text/plain", "image/svg+xml"} {
					if value, ok := data[form].(string); ok {
						text += fmt.Sprintf(" %s %.20s", form, value)
					}
				}
				if page, ok := data["text/html"].(string); ok {
					text += fmt.Sprintf(" %d tabs", strings.Count(page, "<summary"))
				}
			}
		}
		*p = append(*p, text)
	})
}

// shows is a display of ranks.
func shows(form, text string, ranks ...int) session.Output {
	return session.Output{Ranks: ranks, Stream: session.Stdout, Text: "t\n", Display: &session.Display{Data: map[string]any{form: text, "text/plain": "t"}}}
}

func says(text string, ranks ...int) session.Output {
	return session.Output{Ranks: ranks, Stream: session.Stdout, Text: text}
}

// Displays of different ranks become one output, and keep their place among others.
func TestDisplaysOfRanks(t *testing.T) {
	a, b := shows("text/html", "a", 0), shows("text/html", "b", 1)
	for name, c := range map[string]struct {
		outputs []session.Output
		want    published
	}{
		"of all ranks": {[]session.Output{says("x\n", 0, 1), a, b, says("y\n", 0, 1)},
			published{"stream [0,1] x\n", "display_data text/plain [0,1] t 2 tabs", "stream [0,1] y\n"}},
		"of one rank": {[]session.Output{a, says("y\n", 0)}, published{"stream [0]\n", "display_data text/plain t 0 tabs", "stream [0] y\n"}},
		"twice of one rank": {[]session.Output{a, a, b},
			published{"stream [0]\n", "display_data text/plain t 0 tabs", "display_data text/plain [0,1] t 2 tabs"}},
		"that have no tabs": {[]session.Output{a, shows("text/latex", "b", 1)},
			published{"stream [0]\n", "display_data text/plain t 0 tabs", "stream [1]\n", "display_data text/plain t"}},
		"that are not ended":   {[]session.Output{b}, published{"stream [1]\n", "display_data text/plain t 0 tabs"}},
		"that all ranks share": {[]session.Output{shows("text/html", "a", 0, 1)}, published{"display_data text/plain t 0 tabs"}},
	} {
		var got published
		s := got.screen(2)
		for _, o := range c.outputs {
			s.Output(o)
		}
		s.End()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Ranks that do not end alike are a display of tabs, and the failure then has only first lines; the
// reply has all.
func TestErrorsOfRanks(t *testing.T) {
	failed := func(msg string, ranks ...int) *session.Error {
		return &session.Error{Kind: session.KindPanic, Ranks: ranks, Peer: -1, File: "In[1]", Line: 1, Msg: msg, Source: "x"}
	}
	five := session.Value{Ranks: []int{0, 1}, Text: "5"}
	for name, c := range map[string]struct {
		reply session.Reply
		want  published
		whole string
	}{
		"all alike": {session.Reply{Errors: []*session.Error{failed("a", 0, 1, 2)}},
			published{"error [0-2] \x1b[1mIn[1]:1: a\x1b[0m|    x"}, "[0-2] \x1b[1mIn[1]:1: a\x1b[0m\n    x"},
		"two errors": {session.Reply{Errors: []*session.Error{failed("a", 0), failed("b", 2)}},
			published{"display_data text/plain [0] In[1]:1: a\n[0]   3 tabs", "error [0] In[1]:1: a\n[2] In[1]:1: b"},
			"[0] \x1b[1mIn[1]:1: a\x1b[0m\n    x\n[2] \x1b[1mIn[1]:1: b\x1b[0m\n    x"},
		"a value and an error": {session.Reply{Values: []session.Value{five}, Errors: []*session.Error{failed("a", 2)}},
			published{"display_data text/plain [0,1] 5\n[2] In[1]:1: 2 tabs", "error [2] In[1]:1: a"}, "[2] \x1b[1mIn[1]:1: a\x1b[0m\n    x"},
		"a value without tabs": {session.Reply{Values: []session.Value{{Ranks: []int{0, 1}, Text: "5",
			Data: map[string]any{"text/latex": "5"}}}, Errors: []*session.Error{failed("a", 2)}},
			published{"execute_result text/plain [0,1] 5", "error [2] \x1b[1mIn[1]:1: a\x1b[0m\n    x"}, "[2] \x1b[1mIn[1]:1: a\x1b[0m\n    x"},
	} {
		var got published
		s := got.screen(3)
		s.Reply(c.reply)
		failure := s.End()
		c.want[len(c.want)-1] = strings.ReplaceAll(c.want[len(c.want)-1], "|", "\n")
		if !slices.Equal(got, c.want) || strings.Join(failure.Traceback, "|") != c.whole {
			t.Errorf("%s: %q and %q, want %q and %q", name, got, failure.Traceback, c.want, c.whole)
		}
	}
}

// Printed text of which many lines differ also has a tab for each rank.
func TestPrintedByRank(t *testing.T) {
	for lines, want := range map[int]string{fewLines: "", fewLines + 2: "display_data 4 tabs"} {
		var got published
		s := got.screen(2)
		for i := range lines / 2 {
			s.Output(says("all\n", 0, 1))
			s.Output(says(fmt.Sprintln(i), 0))
			s.Output(says(fmt.Sprintln(-i-1), 1))
		}
		s.End()
		if last := got[len(got)-1]; want != "" && last != want || want == "" && strings.HasPrefix(last, "display_data") {
			t.Errorf("%d lines: %q, want %q", lines, last, want)
		}
	}
	var got published
	s := got.screen(2)
	for range 20 {
		s.Output(says(strings.Repeat("x\n", 10000), 0))
		s.Output(says("y\n", 1))
	}
	s.End()
	if last := got[len(got)-1]; !strings.HasPrefix(last, "display_data text/plain [0] x") || // the long text in its box
		strings.HasPrefix(got[len(got)-2], "display_data") || s.printed.of != nil {
		t.Errorf("%d bytes of text end with %.50q", 400000, last)
	}
}

// The lines of charts of one kind become one chart.
func TestLines(t *testing.T) {
	of := func(c *chart.Chart, ranks ...int) session.Value {
		return session.Value{Ranks: ranks, Text: "c", Data: map[string]any{"image/svg+xml": "<svg/>", forms.ChartType: c.SimpleRender()[forms.ChartType]}}
	}
	losses := func(n int) *chart.Chart {
		c := chart.Lines(slices.Repeat([]float64{1}, n), []int{2})
		c.Title, c.Names, c.LogY = "a loss", []string{"a"}, true
		return c
	}
	all := lines([]session.Value{of(losses(3), 0), of(losses(4), 1, 3), of(losses(5), 2)})
	if all == nil {
		t.Fatal("the charts have no lines in common")
	}
	want := []string{"rank 0: a", "rank 0: series 1", "ranks 1,3: a", "ranks 1,3: series 1", "rank 2: a", "rank 2: series 1"}
	if !slices.Equal(all.Names, want) || all.Title != "a loss" || !all.LogY {
		t.Errorf("%q, %q, %v", all.Names, all.Title, all.LogY)
	}
	form, _ := forms.Decode[forms.Chart](all.SimpleRender(), forms.ChartType)
	if len(form.Lines) != 6 || len(form.Lines[4].Values) != 5 {
		t.Errorf("%+v", form)
	}
	one, long := chart.Lines([]int{1, 2}), chart.Lines(make([]float64, 8192))
	data, _ := Bundle([]session.Value{of(one, 0), of(chart.Lines([]int{3, 4}), 1)}, 2)
	if got := slices.Sorted(maps.Keys(data)); !reflect.DeepEqual(got, []string{"image/png", "image/svg+xml", "text/plain"}) {
		t.Errorf("two charts have the forms %q", got)
	}
	if c := lines([]session.Value{of(long, 0), of(chart.Lines(slices.Repeat([]float64{1}, 8192)), 1)}); c == nil ||
		!slices.Equal(c.Names, []string{"rank 0", "rank 1"}) {
		t.Errorf("long lines are %v", c)
	}
	marked := chart.Over([]int{1, 2}, []int{1, 2})
	for name, other := range map[string]*chart.Chart{"heat map": chart.Heat([][]int{{1}}), "other positions": marked,
		"other axes": losses(3), "other parts": long} {
		if c := lines([]session.Value{of(one, 0), of(other, 1)}); c != nil {
			t.Errorf("%s: a chart of %q", name, c.Names)
		}
	}
	if c := lines([]session.Value{of(one, 0), {Ranks: []int{1}, Text: "5"}}); c != nil {
		t.Errorf("a chart and a number are a chart of %q", c.Names)
	}
}
