package display

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/session/inband"
)

// Widget is a control that a notebook's user moves, and that code reads: a slider, a dropdown, a
// checkbox, a text field or a button. The last value of a cell is shown with its widget; so is a
// widget in Display(display.Auto(w)). Several widgets with a function are shown by [Interact].
//
// When the user changes a widget, the session sets the new value on all ranks that have it, in a cell
// of its own: while another cell runs, the change waits, and of several only the last is kept. Front
// ends without widgets show the value as text, and how to set it: display.Set("n", 3).
//
// The methods may be called by several goroutines.
type Widget struct {
	control inband.Control // without its value

	mu    sync.Mutex
	value any               // as in inband.Control
	run   []inband.Function // of the calls of Interact with it
}

// Slider returns a slider between min and max, which stands at value. Its step is 1 if these are
// whole numbers, else a hundredth of the range, and step if one is given. It panics if value is not
// in the range, or a number is not finite.
func Slider(name string, value, min, max float64, step ...float64) *Widget {
	c := inband.Control{Kind: inband.Slider, Name: name, Min: min, Max: max, Step: 1}
	if value != math.Trunc(value) || min != math.Trunc(min) || max != math.Trunc(max) {
		c.Step = (max - min) / 100
	}
	if len(step) > 0 {
		c.Step = step[0]
	}
	if !(min < max) || !(c.Step > 0) || math.IsInf(max-min, 0) || math.IsInf(c.Step, 0) {
		panic(fmt.Errorf("display.Slider %q: there is no slider from %v to %v in steps of %v: the range and the step are finite and greater than 0",
			name, min, max, c.Step))
	}
	return newWidget("Slider", c, value)
}

// Dropdown returns a choice of one of the options; the first is chosen. It panics if there is none.
func Dropdown(name string, options ...string) *Widget {
	if len(options) == 0 {
		panic(fmt.Errorf("display.Dropdown %q: there is nothing to choose from: give it options", name))
	}
	return newWidget("Dropdown", inband.Control{Kind: inband.Dropdown, Name: name, Options: slices.Clone(options)}, options[0])
}

// Checkbox returns a box that is checked or not.
func Checkbox(name string, value bool) *Widget {
	return newWidget("Checkbox", inband.Control{Kind: inband.Checkbox, Name: name}, value)
}

// Text returns a field for a line of text.
func Text(name, value string) *Widget {
	return newWidget("Text", inband.Control{Kind: inband.Text, Name: name}, value)
}

// Button returns a button that runs f, a function without parameters, on all ranks that have the
// button. What f prints and returns is shown below the button, as the output and the value of a cell
// are. It panics if f is no such function.
func Button(name string, f any) *Widget {
	w := &Widget{control: inband.Control{Kind: inband.Button, Name: name}}
	called := newFunction("Button", f, nil)
	w.control.ID = made.add(name, entry{w, &called})
	w.control.Function = inband.Function{ID: w.control.ID, Result: called.result}
	return w
}

func newWidget(kind string, c inband.Control, value any) *Widget {
	v, err := c.Accept(value)
	if err != nil {
		panic(fmt.Errorf("display.%s %q: %w", kind, c.Name, err))
	}
	w := &Widget{control: c, value: v}
	w.control.ID = made.add(c.Name, entry{widget: w})
	return w
}

// Set sets the value: a number of a slider, an option of a dropdown or its index, a bool of a
// checkbox, a string of a text field. Functions of [Interact] with the widget run when the cell has
// ended, unless the cell is such a run itself. It panics if the widget cannot have the value.
func (w *Widget) Set(value any) {
	v, err := w.control.Accept(value)
	if err != nil {
		panic(fmt.Errorf("display: Set of %s %q: %w", w.control.Kind, w.control.ID, err))
	}
	w.mu.Lock()
	w.value = v
	run := slices.Clone(w.run)
	w.mu.Unlock()
	p := inband.Panel{ID: w.control.ID, Controls: []inband.Control{w.state()}, Run: run, Set: true}
	id := "widget " + w.control.ID
	if err := write(inband.Display{ID: id, Update: true, Data: MIMEMap{MIMETypeText: w.String(), inband.PanelType: p}}); err != nil {
		panic(err)
	}
	if !inSession() {
		for _, f := range run {
			runAndPrint(f)
		}
	}
}

// Value returns the value: a float64 of a slider, a string of a dropdown and of a text field, a bool
// of a checkbox, nil of a button.
func (w *Widget) Value() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.value
}

// Float64 returns the value of a slider. It panics for other widgets.
func (w *Widget) Float64() float64 { return valueAs[float64](w, "Float64") }

// Int returns the value of a slider, rounded. It panics for other widgets.
func (w *Widget) Int() int { return int(math.Round(valueAs[float64](w, "Int"))) }

// Bool reports whether a checkbox is checked. It panics for other widgets.
func (w *Widget) Bool() bool { return valueAs[bool](w, "Bool") }

// Text returns the text of a text field, and the option of a dropdown. It panics for other widgets.
func (w *Widget) Text() string { return valueAs[string](w, "Text") }

func valueAs[T any](w *Widget, method string) T {
	v, ok := w.Value().(T)
	if !ok {
		panic(fmt.Errorf("display: %s of %s %q, which has none", method, w.control.Kind, w.control.ID))
	}
	return v
}

// String says the value and how to change it.
func (w *Widget) String() string { return w.state().Describe() }

// Render returns the widget as front ends show it.
func (w *Widget) Render() Data {
	p := inband.Panel{ID: w.control.ID, Controls: []inband.Control{w.state()}}
	return Data{Data: MIMEMap{MIMETypeText: w.String(), inband.PanelType: p}}
}

// state returns the control with its value.
func (w *Widget) state() inband.Control {
	c := w.control
	c.Value = w.Value()
	return c
}

// Set sets the value of the widget with an ID, which its text tells: the name of the first widget
// of a name, then "n 2" and so on. See [Widget.Set].
func Set(id string, value any) {
	w := made.get(id).widget
	if w == nil {
		panic(fmt.Errorf("display.Set: this rank has no widget %q: a cell that makes it has not run since the rank's worker started", id))
	}
	w.Set(value)
}

// entry is the object of an ID: a widget, a function, or a button with its function.
type entry struct {
	widget   *Widget
	function *function
}

// registry holds entries by IDs, which are equal on ranks that add entries of the same names in the
// same order.
type registry struct {
	mu   sync.Mutex
	byID map[string]entry
	many map[string]int // by name
}

// made holds the widgets and functions of this process.
var made = registry{byID: map[string]entry{}, many: map[string]int{}}

// add adds an entry and returns its ID.
func (r *registry) add(name string, e entry) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for taken := true; taken; _, taken = r.byID[id] {
		r.many[name]++
		id = name
		if n := r.many[name]; n > 1 {
			id = fmt.Sprintf("%s %d", name, n)
		}
	}
	r.byID[id] = e
	return id
}

// get returns the entry with an ID, an empty one if there is none.
func (r *registry) get(id string) entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}
