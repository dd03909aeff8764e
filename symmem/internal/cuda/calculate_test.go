package cuda

import (
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calculate"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// The kernels of Map and Reduce, which other tests run on the cpu device, compile for a GPU too:
// all functions and reductions, and all ways of reading operands.
func TestCalculations(t *testing.T) {
	c := compiler(t)
	all := []element.Type{element.F16, element.BF16, element.F32, element.F64, element.I8, element.U8, element.I32, element.U32,
		element.I64, element.U64, element.F8E4M3, element.F8E5M2}
	compile := func(text string) {
		t.Helper()
		found, unit, unread := snippet(device.Source{Name: "formula", Line: 1, Text: text})
		if unread != nil || len(found) == 0 {
			t.Fatalf("%d kernels were found: %v", len(found), unread)
		}
		compiles(t, c, "sm_90", unit, "")
	}
	check := func(text string, types ...element.Type) *expression.Checked {
		t.Helper()
		var operands []expression.Operand
		for _, of := range types {
			operands = append(operands, expression.Operand{Type: of, Number: !of.Valid()})
		}
		tree, err := expression.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := tree.Check(operands)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for i, d := range all {
		f := check("x0*x1 - x2/2 + rank*(x0 % x1) + (x0 < x1 ? abs(-x0) : min(x0, max(x1, x0))) + pow(x0, 2)", d, d, expression.Integer)
		compile((&calculate.Map{Formula: f, Out: f.Result,
			Operands: []calculate.Operand{{Type: d}, {Type: d, Access: calculate.One}, {Type: expression.Integer, Access: calculate.Number}}, Width: 4}).Text())
		to := all[(i+5)%len(all)]
		f = check(to.String()+"(x0)", d)
		compile((&calculate.Map{Formula: f, Out: f.Result, Operands: []calculate.Operand{{Type: d}}, Width: 2}).Text())
	}
	f := check("exp(x0)+exp2(x0)+expm1(x0)+log(x0)+log2(x0)+log10(x0)+log1p(x0)+sqrt(x0)+rsqrt(x0)+sin(x0)+cos(x0)+tan(x0)+tanh(x0)+atan(x0)+erf(x0)+atan2(x0,x1)+hypot(x0,x1)+fma(x0,x1,x0)+"+
		"floor(x0)+ceil(x0)+trunc(x0)+rint(x0)+sign(x0)+(isnan(x0)?inf:isinf(x1)?pi:random(3))+isfinite(x0)+normal(x2)",
		element.F32, element.F64, expression.Integer)
	compile((&calculate.Map{Formula: f, Out: f.Result,
		Operands: []calculate.Operand{{Type: element.F32}, {Type: element.F64}, {Type: expression.Integer, Access: calculate.Number}}, Width: 2}).Text())
	f = check("(x0 & x1 | x0 ^ 3) << 2 >> i | ~x1", element.I32, element.I32)
	for _, wide := range []bool{false, true} {
		compile((&calculate.Map{Formula: f, Out: f.Result,
			Operands: []calculate.Operand{{Type: element.I32, Access: calculate.Along},
				{Type: element.I32, Access: calculate.Across}}, Dims: 2, Width: 4, Wide: wide}).Text())
		compile((&calculate.Map{Formula: f, Out: f.Result, Access: calculate.Along,
			Operands: []calculate.Operand{{Type: element.I32, Access: calculate.Apart}, {Type: element.I32}}, Dims: 3, Width: 4, Wide: wide}).Text())
	}
	for _, d := range []element.Type{element.F32, element.BF16, element.U8, element.I64} {
		compile((&calculate.Transpose{Type: d, Batch: 2}).Text())
		for _, r := range []string{"sqrt(sum(x0*x0)/n)", "prod(x0)", "min(x0)", "max(abs(x0))", "argmin(x0)", "argmax(x0)", "any(x0 > 1)", "all(x0 == rank)"} {
			f := check(r, d)
			for _, columns := range []bool{false, true} {
				compile((&calculate.Reduce{Formula: f, Out: f.Result, Operands: []calculate.Operand{{Type: d}}, Columns: columns, Width: 16 / d.Size()}).Text())
			}
		}
	}
}
