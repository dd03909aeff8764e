package inband

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxText bounds the value of a Text, in bytes.
const maxText = 64 << 10

// Accept returns a value in the form of Control.Value, or an error if the control cannot have it. A
// number is put on the nearest step of a Slider; an integer is an index of a Dropdown's options.
func (c Control) Accept(value any) (any, error) {
	v := reflect.ValueOf(value)
	switch c.Kind {
	case Slider:
		x, ok := number(v)
		if !ok {
			return nil, fmt.Errorf("its value is a number, not %s", describe(value))
		}
		if !(x >= c.Min && x <= c.Max) {
			return nil, fmt.Errorf("%v is not between %v and %v", x, c.Min, c.Max)
		}
		on := c.Min + math.Round((x-c.Min)/c.Step)*c.Step
		on, _ = strconv.ParseFloat(strconv.FormatFloat(on, 'g', 15, 64), 64) // 0.3 for three steps of 0.1
		return min(max(on, c.Min), c.Max), nil
	case Dropdown:
		if v.Kind() == reflect.String {
			if slices.Contains(c.Options, v.String()) {
				return v.String(), nil
			}
			return nil, fmt.Errorf("%s is none of its options %q", describe(value), c.Options)
		}
		x, ok := number(v)
		if !ok {
			return nil, fmt.Errorf("its value is an option or an index, not %s", describe(value))
		}
		if x != math.Trunc(x) || !(x >= 0 && x < float64(len(c.Options))) {
			return nil, fmt.Errorf("it has no option %v: the indices are 0 to %d", x, len(c.Options)-1)
		}
		return c.Options[int(x)], nil
	case Checkbox:
		if v.Kind() == reflect.Bool {
			return v.Bool(), nil
		}
		return nil, fmt.Errorf("its value is true or false, not %s", describe(value))
	case Text:
		if v.Kind() != reflect.String {
			return nil, fmt.Errorf("its value is a string, not %s", describe(value))
		}
		if len(v.String()) > maxText {
			return nil, fmt.Errorf("a text of %d bytes is too long: %d are the most", len(v.String()), maxText)
		}
		if !utf8.ValidString(v.String()) {
			return nil, fmt.Errorf("the text is not UTF-8")
		}
		return v.String(), nil
	}
	return nil, fmt.Errorf("it has no value")
}

// number returns a number of any type.
func number(v reflect.Value) (x float64, ok bool) {
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// describe returns a value for an error message.
func describe(value any) string {
	text := fmt.Sprintf("%#v", value)
	if len(text) > 60 {
		text = string([]rune(text)[:min(57, utf8.RuneCountInString(text))]) + "…"
	}
	return text
}
