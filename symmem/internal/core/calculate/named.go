package calculate

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Named is an operation with a name: a map or a reduction.
type Named struct {
	Operator *operators.Operator
	Reduces  bool
	formula  string
	of       func(d element.Type) string // instead of formula, by the type of the first operand
}

// Formula returns the formula of the operation for a type.
func (n *Named) Formula(d element.Type) string {
	if n.of != nil {
		return n.of(d)
	}
	return n.formula
}

// Operations are the operations with names.
var Operations = table(map[string]*Named{
	"Add": {formula: "x0 + x1"}, "Sub": {formula: "x0 - x1"}, "Mul": {formula: "x0 * x1"}, "Div": {formula: "x0 / x1"},
	"Mod": {formula: "x0 % x1"},
	"Pow": {formula: "pow(x0, x1)"}, "Minimum": {formula: "min(x0, x1)"}, "Maximum": {formula: "max(x0, x1)"},
	"Eq": {formula: "x0 == x1"}, "Ne": {formula: "x0 != x1"}, "Lt": {formula: "x0 < x1"}, "Le": {formula: "x0 <= x1"},
	"Gt": {formula: "x0 > x1"}, "Ge": {formula: "x0 >= x1"},
	"Where": {formula: "x0 ? x1 : x2"},
	"Neg":   {formula: "-x0"}, "Abs": {formula: "abs(x0)"}, "Exp": {formula: "exp(x0)"}, "Log": {formula: "log(x0)"},
	"Sqrt":     {formula: "sqrt(x0)"},
	"Convert":  {of: func(d element.Type) string { return d.String() + "(x0)" }},
	"Normal":   {formula: "normal(x0)"},
	"Arange":   {of: func(d element.Type) string { return d.String() + "(i)" }},
	"Rand":     {of: func(d element.Type) string { return d.String() + "(random(x0) * 128)" }}, // as kernels/elements/rand.cu
	"Linspace": {formula: "n > 1 && i == n-1 ? x1 : x0 + i*x2"},

	"Sum":  {formula: "sum(x0)", Reduces: true},
	"Mean": {of: func(d element.Type) string { return wide(d, "sum(x0) / n", "sum(x0) / n", "f64(sum(x0)) / n") }, Reduces: true},
	"Min":  {formula: "min(x0)", Reduces: true}, "Max": {formula: "max(x0)", Reduces: true},
	"ArgMin": {formula: "argmin(x0)", Reduces: true}, "ArgMax": {formula: "argmax(x0)", Reduces: true},
	"Norm": {of: func(d element.Type) string {
		return wide(d, d.String()+"(sqrt(sum(f64(x0)*f64(x0))))",
			d.Part().String()+"(sqrt(sum(f64(abs(x0))*f64(abs(x0)))))", "sqrt(sum(f64(x0)*f64(x0)))")
	}, Reduces: true},
	"Dot": {of: func(d element.Type) string {
		return wide(d, d.String()+"(sum(f64(x0)*f64(x1)))", "sum(x0*x1)", "sum(i64(x0)*i64(x1))")
	}, Reduces: true},
	"MaxDiff": {of: func(d element.Type) string { return among(d, "max(abs(f64(x0) - f64(x1)))") }, Reduces: true},
	"Equal":   {formula: "all(x0 == x1)", Reduces: true},
	"AllClose": {of: func(d element.Type) string {
		return among(d, "all(f64(x0) == f64(x1) || isfinite(abs(f64(x1))) && abs(f64(x0) - f64(x1)) <= x3 + x2*abs(f64(x1)))")
	}, Reduces: true},
})

// table completes the rows.
func table(rows map[string]*Named) map[string]*Named {
	for name, row := range rows {
		row.Operator = operators.Calculation(name, row.Reduces)
	}
	return rows
}

// wide returns the first text for a floating type, the second for complex numbers, and the third for
// integers.
func wide(d element.Type, float, complex, integer string) string {
	switch {
	case d.IsFloat():
		return float
	case d.IsComplex():
		return complex
	}
	return integer
}

// among returns a formula of f64 in which the conversions are to c128 if d is complex.
func among(d element.Type, formula string) string {
	if d.IsComplex() {
		return strings.ReplaceAll(formula, "f64(", "c128(")
	}
	return formula
}
