// Package forms describes the forms of values that front ends read in order to show the values of
// several ranks together. They do not reach notebooks.
package forms

import (
	"encoding/json"
	"strings"
)

// MIME types of the forms.
const (
	Prefix     = "application/vnd.symmrepl."
	TensorType = Prefix + "tensor+json"
	ChartType  = Prefix + "chart+json"
)

// Tensor is the part of a tensor that a table shows. Numbers are texts.
type Tensor struct {
	Kind           string // "f32[4, 4]"
	NaN            int
	Min, Max, Mean string // empty if they are not known
	Parts          []Part
}

// Part is one of the tables: of a matrix the only part, of more dimensions the part of a slice.
type Part struct {
	Name    string     // of the slice: "[0, 3]"
	Rows    []string   // labels; "…" stands for rows that are left out
	Columns []string   // likewise
	Cells   [][]string // as many as rows and columns; those of left-out rows and columns are "…"
}

// Chart is a chart of lines or, if Heat is not nil, a heat map. Its numbers are pointers because
// JSON has no NaN: nil is a number that is not drawn.
type Chart struct {
	Title, X, Y string
	Names       []string   `json:",omitempty"`
	Marks       []string   `json:",omitempty"`
	LogX, LogY  bool       `json:",omitempty"`
	At          []*float64 `json:",omitempty"` // positions of the values; nil: their indices
	Lines       []Line     `json:",omitempty"`
	Heat        [][]*float64
}

// Line is a line of a chart. Step is the distance of its values' indices.
type Line struct {
	Values []*float64
	Step   float64
}

// Encode returns a form as text.
func Encode(form any) string {
	var b strings.Builder
	if err := json.NewEncoder(&b).Encode(form); err != nil {
		panic(err) // the types of this package can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Decode returns the form of a type among the forms of a value; ok is false if there is none.
func Decode[T any](data map[string]any, mimeType string) (form T, ok bool) {
	text, ok := data[mimeType].(string)
	if !ok || json.Unmarshal([]byte(text), &form) != nil {
		return form, false
	}
	return form, true
}

// Shown returns the forms of a value that notebooks show.
func Shown(data map[string]any) map[string]any {
	out := map[string]any{}
	for mimeType, form := range data {
		if !strings.HasPrefix(mimeType, Prefix) {
			out[mimeType] = form
		}
	}
	return out
}
