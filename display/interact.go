package display

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/session/inband"
	"github.com/symmrepl/symmrepl/show"
)

// Interact shows widgets with a function of their values, in the order of the parameters, which runs
// again on all ranks whenever a value changes. What f prints and returns replaces its previous output
// below the widgets, as the output and the value of a cell:
//
//	display.Interact(func(n int, op string) *chart.Chart { … }, display.Slider("n", 8, 1, 64), display.Dropdown("op", "sum", "max"))
//
// A parameter for a slider is a number, for a dropdown a string or the index of the option, for a
// checkbox a bool, for a text field a string. f returns nothing, a value, an error or both; an error
// that is not nil is shown as that of a cell. In a session f first runs when the cell has ended.
//
// Every rank on which the cell runs takes part in each run of f: f can call collectives. Interact
// panics if a parameter cannot have the values of its widget.
func Interact(f any, of ...*Widget) {
	i := newFunction("Interact", f, of)
	id := made.add("interact", entry{function: &i})
	run := inband.Function{ID: id, Result: i.result}
	p := inband.Panel{ID: id, Run: []inband.Function{run}}
	var texts []string
	for _, w := range of {
		w.mu.Lock()
		if !slices.Contains(w.run, run) {
			w.run = append(w.run, run)
		}
		w.mu.Unlock()
		p.Controls = append(p.Controls, w.state())
		texts = append(texts, w.String())
	}
	if err := write(inband.Display{Data: MIMEMap{MIMETypeText: strings.Join(texts, "\n"), inband.PanelType: p}}); err != nil {
		panic(err)
	}
	if !inSession() {
		runAndPrint(run)
	}
}

// Run runs the function of a [Button] or of an [Interact] with the values that the widgets have, as a
// click or a change does, and returns its result, nil if it has none. The text of a button tells its
// ID; the IDs of calls of Interact are "interact", "interact 2" and so on.
func Run(id string) any {
	f := made.get(id).function
	if f == nil {
		panic(fmt.Errorf("display.Run: this rank has no function %q: a cell that makes it has not run since the rank's worker started", id))
	}
	return f.call()
}

// runAndPrint runs a function where no session shows its result.
func runAndPrint(f inband.Function) {
	if result := Run(f.ID); f.Result {
		show.Print(result)
	}
}

// function is a user's function of the values of widgets.
type function struct {
	f      reflect.Value
	of     []*Widget
	result bool // it returns a value, first
	fails  bool // it returns an error, last
}

var errorType = reflect.TypeFor[error]()

// newFunction returns f as a function of the values of widgets. It panics if f is not.
func newFunction(by string, f any, of []*Widget) function {
	v := reflect.ValueOf(f)
	refuse := func(format string, args ...any) { panic(fmt.Errorf("display."+by+": "+format, args...)) }
	if v.Kind() != reflect.Func || v.IsNil() {
		refuse("%T is not a function", f)
	}
	t := v.Type()
	if t.NumIn() != len(of) || t.IsVariadic() {
		refuse("the function has %s, for %d widgets", count.Of(t.NumIn(), "parameter"), len(of))
	}
	for i, w := range of {
		switch {
		case w == nil:
			refuse("widget %d is nil", i+1)
		case w.control.Kind == inband.Button:
			refuse("a button has no value for parameter %d: its own function runs when it is clicked", i+1)
		case !w.fits(t.In(i)):
			refuse("parameter %d of the function is of type %v, which cannot have the value of %s %q", i+1, t.In(i),
				w.control.Kind, w.control.Name)
		}
	}
	n := t.NumOut()
	fails := n > 0 && t.Out(n-1) == errorType
	if n > 2 || n == 2 && !fails {
		refuse("the function returns %d values: a value, an error or both are shown", n)
	}
	return function{f: v, of: slices.Clone(of), result: n == 2 || n == 1 && !fails, fails: fails}
}

// fits reports whether a parameter of type t can have the widget's value.
func (w *Widget) fits(t reflect.Type) bool {
	_, isNumber := asNumber(0, t)
	switch w.control.Kind {
	case inband.Slider:
		return isNumber
	case inband.Dropdown:
		return t.Kind() == reflect.String || isNumber
	case inband.Checkbox:
		return t.Kind() == reflect.Bool
	}
	return t.Kind() == reflect.String
}

// asNumber returns x as a value of a numeric type, rounded for integers.
func asNumber(x float64, t reflect.Type) (v reflect.Value, ok bool) {
	v = reflect.New(t).Elem()
	switch {
	case v.CanInt():
		v.SetInt(int64(math.Round(x)))
	case v.CanUint():
		v.SetUint(uint64(math.Round(max(x, 0))))
	case v.CanFloat():
		v.SetFloat(x)
	default:
		return v, false
	}
	return v, true
}

// call calls the function. It panics with the error that the function returns, unless that is nil.
func (f function) call() any {
	var in []reflect.Value
	for i, w := range f.of {
		value, t := w.Value(), f.f.Type().In(i)
		if option, is := value.(string); is && t.Kind() != reflect.String {
			value = float64(slices.Index(w.control.Options, option))
		}
		if x, is := value.(float64); is {
			v, _ := asNumber(x, t)
			in = append(in, v)
			continue
		}
		in = append(in, reflect.ValueOf(value).Convert(t))
	}
	out := f.f.Call(in)
	if f.fails {
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			panic(err)
		}
	}
	if f.result {
		return out[0].Interface()
	}
	return nil
}
