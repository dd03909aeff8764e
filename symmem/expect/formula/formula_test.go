package formula

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// names are the tensors of the tests.
var names = []Name{{"x", element.F32}, {"y", element.I32}, {"u", element.U64}, {"b", element.Bool}, {"h", element.F16}}

// values are the tensors of the tests on two ranks.
type values struct{ asked map[string]int }

func (v values) Get(rank int, name string) (Numbers, error) {
	v.asked[fmt.Sprint(name, rank)]++
	switch name {
	case "x":
		return Numbers{Floats: []float64{1, 2, 4 + float64(rank)}}, nil
	case "y":
		return Numbers{Ints: []int64{7, -7, 10 * int64(rank)}}, nil
	case "u":
		return Numbers{Ints: []int64{-1, 5, 0}}, nil
	case "b":
		return Numbers{Ints: []int64{1, 0, int64(rank)}}, nil
	}
	return Numbers{}, errLost
}

var errLost = errors.New("it is lost")

// eval evaluates a formula as rank 1 of 2, for 3 elements.
func eval(text string, t Type) (Numbers, error) {
	f, err := Parse(text, names...)
	if err != nil {
		return Numbers{}, err
	}
	return f.within(1<<20, values{map[string]int{}}, t, 1, 2, 3)
}

// TestEval has a row for every name, operator and function.
func TestEval(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		text string
		t    Type
		want []float64
	}{
		{"i", element.I32, []float64{0, 1, 2}}, {"n", element.I32, []float64{3, 3, 3}}, {"rank*10+size", element.U8, []float64{12, 12, 12}},
		{"1_000 + 0x10", element.F32, []float64{1016, 1016, 1016}}, {"2.5e-1", element.F32, []float64{.25, .25, .25}},
		{"pi > 3.14 && pi < 3.15", element.Bool, []float64{1, 1, 1}}, {"where(i == 0, inf, where(i == 1, -inf, nan))", element.F32, []float64{inf, -inf, nan}},
		{"true", element.I32, []float64{1, 1, 1}}, {"false || i > 1", element.F32, []float64{0, 0, 1}},
		{"x", element.F32, []float64{1, 2, 5}}, {"x[2-i]", element.F32, []float64{5, 2, 1}}, {"on(0, x)", element.F32, []float64{1, 2, 4}},
		{"on(1-rank, rank*10 + y)", element.I32, []float64{7, -7, 0}}, {"on(0, x) + x", element.F32, []float64{2, 4, 9}},
		{"rank_sum(x)", element.F32, []float64{2, 4, 9}}, {"rank_prod(y)", element.I32, []float64{49, 49, 0}},
		{"rank_min(x) - rank_max(x)", element.F32, []float64{0, 0, -1}}, {"rank_max(y)", element.I32, []float64{7, -7, 10}},
		{"rank_sum(b)", element.I32, []float64{2, 0, 1}}, {"rank_sum(on(0, x))", element.F32, []float64{2, 4, 8}},
		{"rank_sum(rank_sum(rank))", element.I32, []float64{2, 2, 2}}, {"rank_sum(rank) + rank", element.I32, []float64{2, 2, 2}},
		{"sum(k, 0, i+1, x[k])", element.F32, []float64{1, 3, 8}}, {"sum(k, 0, size, on(k, y))", element.I32, []float64{14, -14, 10}},
		{"prod(k, 1, 1+i, k)", element.I32, []float64{1, 1, 2}}, {"sum(k, 3, 0, 1)", element.I32, []float64{0, 0, 0}},
		{"sum(a, 0, 2, sum(c, 0, 3, a*c + 0.5))", element.F64, []float64{6, 6, 6}}, {"prod(k, 0, 0, 2.0)", element.F64, []float64{1, 1, 1}},
		{"where(i > 0, x[i-1], 0)", element.F32, []float64{0, 1, 2}}, {"i == 0 || x[i-1] == 1", element.Bool, []float64{1, 1, 0}},
		{"i < 2 && x[i+1] == 2", element.Bool, []float64{1, 0, 0}},
		{"y / 2", element.I32, []float64{3, -3, 5}}, {"y % 4", element.I32, []float64{3, -3, 2}}, {"1/2", element.I32, []float64{0, 0, 0}},
		{"1/2.0", element.F32, []float64{.5, .5, .5}}, {"x / 0", element.F32, []float64{inf, inf, inf}}, {"-x", element.F32, []float64{-1, -2, -5}},
		{"7 & 5 | 8 ^ 1", element.I32, []float64{12, 12, 12}}, {"7 &^ 5", element.I32, []float64{2, 2, 2}}, {"^i", element.I32, []float64{-1, -2, -3}},
		{"1 << (62+i)", element.I64, []float64{1 << 62, math.MinInt64, 0}}, {"y >> 1", element.I32, []float64{3, -4, 5}}, {"u >> 60", element.I32, []float64{15, 0, 0}},
		{"u > y", element.Bool, []float64{1, 1, 0}}, {"u == -1", element.Bool, []float64{0, 0, 0}}, {"-1 < u", element.Bool, []float64{1, 1, 1}},
		{"u / 2 + 1", element.U64, []float64{1 << 63, 3, 1}}, {"f64(u)", element.F64, []float64{0x1p64, 5, 0}}, {"u * 1.0", element.F64, []float64{0x1p64, 5, 0}},
		{"nan == nan", element.Bool, []float64{0, 0, 0}}, {"nan != nan", element.Bool, []float64{1, 1, 1}}, {"x >= 2", element.U8, []float64{0, 1, 1}},
		{"!b", element.Bool, []float64{0, 1, 0}}, {"b + b", element.I32, []float64{2, 0, 2}}, {"b == 1", element.Bool, []float64{1, 0, 1}},
		{"abs(y)", element.I32, []float64{7, 7, 10}}, {"abs(-x)", element.F32, []float64{1, 2, 5}}, {"min(i, 1, 5)", element.I32, []float64{0, 1, 1}},
		{"max(x, 2, nan)", element.F32, []float64{nan, nan, nan}}, {"max(x, y)", element.F32, []float64{7, 2, 10}},
		{"sqrt(4)", element.F32, []float64{2, 2, 2}}, {"exp(0) + log(1) + exp2(3) + log2(8)", element.F32, []float64{12, 12, 12}},
		{"sin(0) + cos(0) + tanh(0) + erf(0) + pow(2, 3)", element.F64, []float64{9, 9, 9}},
		{"floor(-1.5) * 100 + ceil(1.5) * 10 + trunc(-1.5) + rint(2.5)", element.F64, []float64{-179, -179, -179}},
		{"isnan(nan) && !isnan(x)", element.Bool, []float64{1, 1, 1}},
		{"hash(i)", element.U32, []float64{0, 1753845952, 3507691905}}, {"hash(1 << 32)", element.I64, []float64{33350994, 33350994, 33350994}},
		{"f16(2049 + 0*x)", element.F32, []float64{2048, 2048, 2048}}, {"bf16(257)", element.F32, []float64{256, 256, 256}},
		{"f32(16777217)", element.F64, []float64{16777216, 16777216, 16777216}}, {"16777217", element.F32, []float64{16777216, 16777216, 16777216}},
		{"f16(1e6)", element.F16, []float64{inf, inf, inf}}, {"f8e4m3(1e6)", element.F8E4M3, []float64{nan, nan, nan}}, {"f8e5m2(1.2)", element.F32, []float64{1.25, 1.25, 1.25}},
		{"u8(257 + i)", element.U8, []float64{1, 2, 3}}, {"i8(300.5)", element.I8, []float64{127, 127, 127}}, {"i32(-x)", element.I32, []float64{-1, -2, -5}},
		{"u8(nan)", element.U8, []float64{0, 0, 0}}, {"bool(i)", element.I32, []float64{0, 1, 1}}, {"i16(40000) + u16(-1) + u32(-1)", element.I64, []float64{-25536 + 65535 + 1<<32 - 1, 4295007294, 4295007294}},
		{"9007199254740993 - 9007199254740992", element.I32, []float64{1, 1, 1}}, {"9223372036854775807 + 1", element.I64, []float64{math.MinInt64, math.MinInt64, math.MinInt64}},
		{"-9223372036854775808", element.I64, []float64{math.MinInt64, math.MinInt64, math.MinInt64}}, {"18446744073709551615 / 5 > 0", element.Bool, []float64{1, 1, 1}},
		{"( i ) /* a comment */ + 0", element.I32, []float64{0, 1, 2}}, {"9223372036854775807 / -1 * +1", element.I64, []float64{-math.MaxInt64, -math.MaxInt64, -math.MaxInt64}},
	} {
		got, err := eval(c.text, c.t)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		floats := slices.Clone(got.Floats)
		for _, v := range got.Ints {
			if c.t == element.U64 {
				floats = append(floats, float64(uint64(v)))
			} else {
				floats = append(floats, float64(v))
			}
		}
		if !slices.EqualFunc(floats, c.want, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%s as %v is %v, want %v", c.text, c.t, floats, c.want)
		}
	}
}

// TestErrors has a row for every refusal of Parse, each with its column.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "column 1: the formula is empty",
		" \t":                     "column 1: the formula is empty",
		"\xff":                    "column 1: the formula is not UTF-8",
		"x +":                     "column 4: expected operand, found the end",
		"x; x":                    "column 2: expected the end, found ';'",
		"x = 1":                   "column 3: expected '==', found '='",
		"if x { }":                "column 1: expected operand, found 'if'",
		"π + x":                   "column 1: there is no name π",
		"\"π\" + z":               "column 1: a formula has integers and floats, not string literals",
		"1 + π":                   "column 5: there is no name π",
		"X":                       "column 1: there is no name X: did you mean x?",
		"rnak":                    "column 1: there is no name rnak: did you mean rank?",
		"rank_summ(x)":            "column 1: there is no function rank_summ: did you mean rank_sum?",
		"rank_sum":                "column 1: rank_sum is a function: write rank_sum(…)",
		"f32":                     "column 1: f32 is a function: write f32(…)",
		"c64(x)":                  "column 1: there is no function c64",
		"x(1)":                    "column 1: x is a tensor: write x[…] for an element",
		"func() int { for {} }()": "column 1: only functions of formulas can be called",
		"func() int { for {} }":   "column 1: a formula has numbers, names, operators and calls, not function literals",
		"x[i, rank]":              "column 1: an element has one index, counted through all dimensions: write x[row*columns + column]",
		strings.Repeat("(", 250) + "1" + strings.Repeat(")", 250): "column 201: more than 200 parts",
		"[]int{1}":                      "column 1: a formula has numbers, names, operators and calls, not composite literals",
		"[]int{1}[0]":                   "column 1: only a tensor has elements",
		"x.y":                           "column 1: a formula has numbers, names, operators and calls, not selectors",
		"os.Exit(1)":                    "column 1: only functions of formulas can be called",
		"*x":                            "column 1: a formula has numbers, names, operators and calls, not pointers",
		"&x":                            "column 1: formulas have no operator & before an operand",
		"<-x":                           "column 1: formulas have no operator <- before an operand",
		"x[1:2]":                        "column 1: a formula has numbers, names, operators and calls, not slices",
		"x.(int)":                       "column 1: a formula has numbers, names, operators and calls, not type assertions",
		"1 + []int":                     "column 5: a formula has numbers, names, operators and calls, not types",
		"x[1, 2]":                       "column 6: expected type, found 2: an element has one index, counted through all dimensions",
		"x[1.5]":                        "column 3: an index is an integer, and this is a float",
		"x[x]":                          "column 3: an index is an integer, and this is a float",
		"z[0]":                          "column 1: there is no tensor z: the tensors are x, y, u, b, h",
		"i[0]":                          "column 1: there is no tensor i",
		"x[0][0]":                       "column 1: only a tensor has elements",
		"min(x...)":                     "column 6: formulas have no ...",
		"sqrt(x, x)":                    "column 1: sqrt has 1 argument, not 2",
		"min(x)":                        "column 1: min has at least 2 arguments, not 1",
		"sum(x)":                        "column 1: sum has 4 arguments, not 1",
		"f32()":                         "column 1: f32 has 1 argument, not 0",
		"sum(1, 0, n, 1)":               "column 5: the first argument is a variable",
		"sum(_, 0, n, 1)":               "column 5: the first argument is a variable",
		"sum(x, 0, n, 1)":               "column 5: x has a meaning already",
		"sum(i, 0, n, 1)":               "column 5: i has a meaning already",
		"sum(k, 0, n, sum(k, 0, n, 1))": "column 18: k has a meaning already",
		"sum(k, 0, k, 1)":               "column 11: there is no name k",
		"sum(k, 0, n, 1) + k":           "column 19: there is no name k",
		"sum(k, 0.5, n, 1)":             "column 8: an end of a range is an integer, and this is a float",
		"on(x, x)":                      "column 4: a rank is an integer, and this is a float",
		"hash(x)":                       "column 6: the argument of hash is an integer, and this is a float",
		"where(i % 2, 1, 0)":            "column 7: the first argument of where is a condition, and this is an integer: write … != 0",
		"x && b":                        "column 1: an operand of && is a condition, and this is a float",
		"!i":                            "column 2: the operand of ! is a condition, and this is an integer",
		"0 < i < 2":                     "column 7: a condition is not larger or smaller than anything",
		"x % 2":                         "column 3: % is for integers, and this is a float and an integer",
		"1 << 0.5":                      "column 3: << is for integers",
		"^x":                            "column 1: ^ inverts the bits of integers",
		"'a'":                           "column 1: a formula has integers and floats, not char literals",
		"1i":                            "column 1: a formula has integers and floats, not imag literals",
		"18446744073709551616":          "column 1: 18446744073709551616 is larger than the largest integer",
		"1e999":                         "column 1: 1e999 is larger than the largest float64",
		"08":                            "column 2: invalid digit '8' in octal literal",
		strings.Repeat("(", 300) + "1":  "column 302: expected ')', found the end",
		strings.Repeat("- ", 300) + "1": "column 401: more than 200 parts are within each other",
		"1" + strings.Repeat("+1", 300): "column 1: more than 200 parts are within each other",
		strings.Repeat("x", MaxText+1):  "column 1: a formula has at most 4096 bytes, and this has 4097",
		"max(" + strings.Repeat("1,", 101) + "1)": "column 1: max has at most 100 arguments, not 102",
	} {
		_, err := Parse(text, names...)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error()[len("formula ")+len(fmt.Sprintf("%q", e.Text)):], ", "+want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

// TestNames refuses names and types of tensors that formulas cannot have.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		names []Name
		want  string
	}{
		{[]Name{{"rank", element.F32}}, "rank cannot be the name of a tensor: it has a meaning in formulas"},
		{[]Name{{"sum", element.F32}}, "sum cannot be the name of a tensor"}, {[]Name{{"u8", element.F32}}, "u8 cannot be"},
		{[]Name{{"func", element.F32}}, `"func" cannot be the name of a tensor: it is no identifier of Go`},
		{[]Name{{"", element.F32}}, `"" cannot be`}, {[]Name{{"_", element.F32}}, `"_" cannot be`}, {[]Name{{"a b", element.F32}}, `"a b" cannot be`},
		{[]Name{{"z", element.C64}}, "formulas have no values of c64, the type of z"}, {[]Name{{"z", 4}}, "formulas have no values of DType(4), the type of z"},
		{[]Name{{"z", element.F32}, {"z", element.F32}}, "two tensors have the name z"},
	} {
		if _, err := Parse("1", c.names...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.names, err, c.want)
		}
	}
	if f, err := Parse("y + rank_sum(x[0]) + y", names...); err != nil || !slices.Equal(f.Uses(), []string{"x", "y"}) {
		t.Errorf("the formula uses %v, %v", f.Uses(), err)
	}
	if got, ok := TypeNamed("bf16"); got != element.BF16 || !ok {
		t.Errorf("bf16 is %v, %v", got, ok)
	}
	for _, name := range []string{"c64", "", "float"} {
		if got, ok := TypeNamed(name); ok {
			t.Errorf("%q is %v", name, got)
		}
	}
}

// TestEvalErrors has the failures of values.
func TestEvalErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		t    Type
		want string
	}{
		{"1 + x[i+1]", element.F32, "column 5, rank 1, element 2: x has 3 elements, and the index is 3"},
		{"on(0, x[i-1])", element.F32, "column 7, rank 1, element 0: x of rank 0 has 3 elements, and the index is -1"},
		{"x[18446744073709551615]", element.F32, "element 0: x has 3 elements, and the index is -1"},
		{"1 + 4 / i", element.I32, "column 7, rank 1, element 0: an integer is divided by zero"},
		{"u % (u - u)", element.U64, "column 3, rank 1, element 0: an integer is divided by zero"},
		{"1 << (1 - i)", element.I32, "column 3, rank 1, element 2: an integer is shifted by -1"},
		{"on(i, rank)", element.I32, "column 1, rank 1, element 2: on has rank 2, and the ranks are 0 to 1"},
		{"on(-1, rank)", element.I32, "element 0: on has rank -1"},
		{"h", element.F32, "column 1, rank 1, element 0: h of rank 1: it is lost"},
		{"on(0, i) + rank_sum(h)", element.F32, "column 21, rank 1, element 0: h of rank 0: it is lost"},
		{"i + 255", element.U8, "column 1, rank 1, element 1: 256 is out of the range of u8: u8(…) around the formula converts it"},
		{"-i", element.U32, "element 1: -1 is out of the range of u32"}, {"u", element.I64, "element 0: 18446744073709551615 is out of the range of i64"},
		{"x * 30000", element.F16, "column 1, rank 1, element 2: 150000 is out of the range of f16, whose largest value is 65504: f16(…) around the formula converts it"},
		{"100000", element.F16, "element 0: 100000 is out of the range of f16"}, {"inf", element.F8E4M3, "f8e4m3 has no infinity"},
		{"i", element.Bool, "element 2: 2 is out of the range of bool"},
		{"x", element.I32, "column 1: the formula's value is a float, and the elements are i32: write i32(…) around it"},
		{"i", element.C64, "formulas have no values of c64"},
		{"sum(k, 0, 9000000000000000000, k)", element.I64, "column 1, rank 1, element 0: the formula takes more than 1048576 operations"},
		{"sum(a, 0, 100000, sum(c, 0, 100000, 0))", element.I64, "column 19, rank 1, element 0: the formula takes more than"},
	} {
		_, err := eval(c.text, c.t)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.text, err, c.want)
		}
		if c.text == "h" && !errors.Is(err, errLost) {
			t.Errorf("%v does not wrap the error of Values", err)
		}
	}
	f, err := Parse("x + x[0] + on(0, x)", names...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]int{{0, 0, 1}, {2, 2, 1}, {-1, 2, 1}, {0, 2, -1}} {
		if _, err := f.Eval(values{}, element.F32, c[0], c[1], c[2]); err == nil {
			t.Errorf("rank %d of %d has a result of %d elements", c[0], c[1], c[2])
		}
	}
	if _, err := f.Eval(values{}, element.F32, 0, 2, math.MaxInt); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a result of very many elements: %v", err)
	}
	v := values{map[string]int{}}
	if _, err := f.Eval(v, element.F32, 1, 2, 3); err != nil || v.asked["x1"] != 1 || v.asked["x0"] != 1 {
		t.Errorf("%v; it asked %v", err, v.asked)
	}
	g, _ := Parse("z", Name{"z", element.I32})
	if _, err := g.Eval(wrong{}, element.I32, 0, 1, 1); err == nil || !strings.Contains(err.Error(), "z of rank 0 is not i32") {
		t.Errorf("values of another class: %v", err)
	}
}

// wrong returns floats for an integer tensor.
type wrong struct{}

func (wrong) Get(int, string) (Numbers, error) { return Numbers{Floats: []float64{1}}, nil }

// FuzzFormula parses and calculates hostile text. Parse returns a formula or an *Error with a column of
// the text, and what it accepts has n elements or a failure of values.
func FuzzFormula(f *testing.F) {
	for _, text := range []string{"rank_sum(x) + i", "sum(k, 0, n, on(k, x[k]))", "where(i > 0, x[i-1], hash(i))", "f16(x) % 2", "func(){}()",
		"u / -1 >> 3 &^ y", "!b && nan != 1e-3", "x[1,2", "((((", "\x00", "-9223372036854775808", "a.b[c:d].(e)", "π"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, names...)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Column < 1 || e.Column > len(text)+1 || e.Msg == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		as := element.F64
		got, err := p.within(1<<12, values{map[string]int{}}, as, 1, 2, 3)
		var e *EvalError
		switch {
		case err == nil && got.Len() != 3:
			t.Fatalf("%q has %d elements", text, got.Len())
		case err != nil && (!errors.As(err, &e) || e.Column < 1 || e.Index < 0 || e.Index > 2):
			t.Fatalf("%q: %#v", text, err)
		}
	})
}

// BenchmarkRankSum measures an element of a sum over 8 ranks.
func BenchmarkRankSum(b *testing.B) {
	f, _ := Parse("rank_sum(x)", names...)
	v := vector(make([]float64, b.N))
	b.ResetTimer()
	if _, err := f.Eval(v, element.F32, 0, 8, b.N); err != nil {
		b.Fatal(err)
	}
}

type vector []float64

func (v vector) Get(int, string) (Numbers, error) { return Numbers{Floats: v}, nil }
