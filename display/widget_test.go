package display

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session/inband"
)

// fresh forgets all widgets, as in a worker that has just started.
func fresh(t *testing.T) {
	t.Helper()
	made = registry{byID: map[string]entry{}, many: map[string]int{}}
}

// panicOf returns the text of the error with which f panics, "" if it does not.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = asText(v)
		}
	}()
	f()
	return ""
}

func TestWidgetTexts(t *testing.T) {
	fresh(t)
	for want, w := range map[string]*Widget{
		`n: 8 of 1 to 64; display.Set("n", 9) sets it`:           Slider("n", 8, 1, 64),
		`a: 1 of 0 to 1; display.Set("a", 0) sets it`:            Slider("a", 1, 0, 1, 0.25),
		`b: 0.5 of 0 to 1; display.Set("b", 0.51) sets it`:       Slider("b", 0.5, 0, 1),
		`op: sum of sum, max; display.Set("op", "max") sets it`:  Dropdown("op", "sum", "max"),
		`check: false; display.Set("check", true) sets it`:       Checkbox("check", false),
		`title: "a \"b\""; display.Set("title", "text") sets it`: Text("title", `a "b"`),
		`go: a button; display.Run("go") runs its function`:      Button("go", func() {}),
	} {
		if got := w.String(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		if d := w.Render().Data; d[MIMETypeText] != want || !reflect.DeepEqual(d[inband.PanelType].(inband.Panel).Controls, []inband.Control{w.state()}) {
			t.Errorf("%v", d)
		}
	}
	if again := Slider("n", 2, 1, 4).String(); again != `n: 2 of 1 to 4; display.Set("n 2", 3) sets it` {
		t.Errorf("a second widget of a name: %s", again)
	}
}

func TestSet(t *testing.T) {
	fresh(t)
	n, x, op, box, title := Slider("n", 8, 1, 64), Slider("x", 0, -1, 1, 0.1), Dropdown("op", "sum", "max"), Checkbox("box", false), Text("title", "")
	for _, set := range []struct {
		id          string
		value, want any
	}{
		{"n", 9, 9.0}, {"n", uint8(64), 64.0}, {"n", 3.4, 3.0}, {"n", float32(1), 1.0},
		{"x", 0.3, 0.3}, {"x", 0.31, 0.3}, {"x", -1, -1.0}, {"x", 1.0, 1.0},
		{"op", "max", "max"}, {"op", 0, "sum"}, {"box", true, true}, {"title", "ä", "ä"},
	} {
		printed(t, true, func() { Set(set.id, set.value) })
		if got := made.get(set.id).widget.Value(); got != set.want {
			t.Errorf("%s set to %v is %v, want %v", set.id, set.value, got, set.want)
		}
	}
	if n.Int() != 1 || n.Float64() != 1 || x.Float64() != 1 || op.Text() != "sum" || !box.Bool() || title.Text() != "ä" {
		t.Error(n, x, op, box, title)
	}
	for want, f := range map[string]func(){
		`display: Set of slider "n": 65 is not between 1 and 64`:                                                                 func() { n.Set(65) },
		`display: Set of slider "n": its value is a number, not "3"`:                                                             func() { n.Set("3") },
		`display: Set of slider "n": its value is a number, not <nil>`:                                                           func() { n.Set(nil) },
		`display: Set of dropdown "op": "min" is none of its options ["sum" "max"]`:                                              func() { op.Set("min") },
		`display: Set of dropdown "op": it has no option 2: the indices are 0 to 1`:                                              func() { op.Set(2) },
		`display: Set of checkbox "box": its value is true or false, not 1`:                                                      func() { box.Set(1) },
		`display: Set of text "title": the text is not UTF-8`:                                                                    func() { title.Set("\xff") },
		`display: Set of button "go": it has no value`:                                                                           func() { Button("go", func() {}).Set(1) },
		`display: Bool of slider "n", which has none`:                                                                            func() { n.Bool() },
		`display.Slider "s": there is no slider from 2 to 1 in steps of 1: the range and the step are finite and greater than 0`: func() { Slider("s", 1, 2, 1) },
		`display.Slider "s": 5 is not between 1 and 2`:                                                                           func() { Slider("s", 5, 1, 2) },
		`display.Dropdown "d": there is nothing to choose from: give it options`:                                                 func() { Dropdown("d") },
		`display.Set: this rank has no widget "m": a cell that makes it has not run since the rank's worker started`:             func() { Set("m", 1) },
		`display.Run: this rank has no function "n": a cell that makes it has not run since the rank's worker started`:           func() { Run("n") },
	} {
		if got := panicOf(f); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// size is a number of a type of its own.
type size uint16

func TestInteract(t *testing.T) {
	fresh(t)
	n, op := Slider("n", 8, 0, 64), Dropdown("op", "sum", "max")
	f := func(n size, op string, index int) (string, error) {
		if n == 0 {
			return "", errors.New("nothing to do")
		}
		return strings.Repeat(op, int(n)+index), nil
	}
	if got := printed(t, false, func() { Interact(f, n, op, op); n.Set(1) }); got != n0+"\""+strings.Repeat("sum", 8)+"\"\n"+
		"n: 1 of 0 to 64; display.Set(\"n\", 2) sets it\n\"sum\"\n" {
		t.Errorf("without a session: %q", got)
	}
	got := displays(printed(t, true, func() { Interact(f, n, op, op); op.Set("max") }))
	if len(got) != 2 {
		t.Fatalf("%d displays", len(got))
	}
	functions := []any{map[string]any{"id": "interact", "result": true}, map[string]any{"id": "interact 2", "result": true}}
	panel := got[0].Data[inband.PanelType].(map[string]any)
	if panel["id"] != "interact 2" || len(panel["controls"].([]any)) != 3 || !reflect.DeepEqual(panel["run"], functions[1:]) || got[0].Update {
		t.Errorf("%v", panel)
	}
	set := got[1].Data[inband.PanelType]
	if want := map[string]any{"id": "op", "set": true, "run": functions, "controls": []any{map[string]any{
		"id": "op", "kind": "dropdown", "name": "op", "options": []any{"sum", "max"}, "value": "max",
	}}}; !reflect.DeepEqual(set, want) || !got[1].Update {
		t.Errorf("%v, want %v", set, want)
	}
	if got := Run("interact 2"); got != "maxmax" {
		t.Errorf("%v", got)
	}
	printed(t, true, func() { n.Set(0) })
	if got := panicOf(func() { Run("interact") }); got != "nothing to do" {
		t.Errorf("an error is no panic: %q", got)
	}
	for want, f := range map[string]func(){
		`display.Interact: int is not a function`:                                                                  func() { Interact(3, n) },
		`display.Interact: the function has 0 parameters, for 1 widgets`:                                           func() { Interact(func() {}, n) },
		`display.Interact: widget 1 is nil`:                                                                        func() { Interact(func(int) {}, nil) },
		`display.Interact: parameter 1 of the function is of type bool, which cannot have the value of slider "n"`: func() { Interact(func(bool) {}, n) },
		`display.Interact: the function returns 2 values: a value, an error or both are shown`:                     func() { Interact(func(int) (int, int) { return 0, 0 }, n) },
		`display.Button: the function has 1 parameter, for 0 widgets`:                                              func() { Button("b", func(int) {}) },
	} {
		if got := panicOf(f); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

const n0 = "n: 8 of 0 to 64; display.Set(\"n\", 9) sets it\nop: sum of sum, max; display.Set(\"op\", \"max\") sets it\nop: sum of sum, max; display.Set(\"op\", \"max\") sets it\n"
