package expression

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

var f32 = Operand{Type: element.F32}

func checked(text string, operands ...Operand) (*Checked, error) {
	t, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return t.Check(operands)
}

// Formulas are printed as calls, with the conversions that the types ask for.
func TestCUDA(t *testing.T) {
	i32, u8, number, real := Operand{Type: element.I32}, Operand{Type: element.U8}, Operand{Integer, true}, Operand{Float, true}
	for _, c := range []struct {
		text     string
		operands []Operand
		want     string
		result   Type
	}{
		{"x0*x1 + rank", []Operand{f32, f32}, "calc::add<float>(calc::mul<float>(v0, v1), calc::to<float>(rank))", element.F32},
		{"x0 + x1*x2", []Operand{f32, number, number}, "calc::add<float>(v0, calc::to<float>(calc::mul<symm::i64>(v1, v2)))", element.F32},
		{"x0 * x1", []Operand{i32, real}, "calc::mul<double>(calc::to<double>(v0), v1)", element.F64},
		{"x0 < x1 && !x0", []Operand{f32, i32}, "(calc::lt<double>(calc::to<double>(v0), calc::to<double>(v1)) && !calc::to<bool>(v0))", element.U8},
		{"x0 ? 1 : 2.5", []Operand{u8}, "(calc::to<bool>(v0) ? calc::to<double>(symm::i64(1ull)) : calc::constant(0x4004000000000000ull))", element.F64},
		{"max(x0, -1)", []Operand{i32}, "calc::max<symm::i32>(v0, calc::to<symm::i32>(calc::neg<symm::i64>(symm::i64(1ull))))", element.I32},
		{"1 + 2 * 3 == 7 || false", nil,
			"(calc::eq<symm::i64>(calc::add<symm::i64>(symm::i64(1ull), calc::mul<symm::i64>(symm::i64(2ull), symm::i64(3ull))), symm::i64(7ull)) || calc::to<bool>(calc::to<symm::i64>(false)))", element.U8},
		{"u8(x0)", []Operand{f32}, "calc::to<symm::u8>(calc::load(calc::round<symm::u8>(v0)))", element.U8},
		{"exp(x0)", []Operand{i32}, "calc::exp<double>(calc::to<double>(v0))", element.F64},
		{"0xffffffffffffffff", nil, "symm::u64(18446744073709551615ull)", element.U64},
	} {
		f, err := checked(c.text, c.operands...)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, _ := f.Inner()
		if want := strings.ReplaceAll(c.want, "calc::to<bool>(calc::to<symm::i64>(false))", "false"); got != want || f.Result != c.result {
			t.Errorf("%s is\n%s of %v, want\n%s of %v", c.text, got, f.Result, want, c.result)
		}
	}
}

func TestReduction(t *testing.T) {
	f, err := checked("sqrt(sum(x0*x0) / n)", f32)
	if err != nil {
		t.Fatal(err)
	}
	inner, _ := f.Inner()
	outer, _ := f.Outer()
	name, of := f.Reduction()
	if inner != "calc::mul<float>(v0, v0)" || outer != "calc::sqrt<double>(calc::div<double>(reduced, calc::to<double>(n)))" ||
		name != "sum" || of != element.F32 || f.Result != element.F32 {
		t.Errorf("it is %s, %s of %v in %s, and %v", name, inner, of, outer, f.Result)
	}
}

// What is wrong is refused at its place.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "character 1: the formula is empty",
		"x0 +":                          "character 5: the formula ends where a value is expected",
		"x0 x1":                         `character 4: "x1" stands where the end is expected`,
		"(x0":                           `character 4: the formula ends where ")" is expected`,
		"x0 ** 2":                       "character 4: ** is no operator",
		"x16":                           "character 1: x16 is no operand: they are x0 to x15",
		"x01":                           "character 1: x01 is no operand: they are x0 to x15",
		"y":                             "character 1: y is not known",
		"exp":                           "character 1: exp is a function",
		"system(x0)":                    "character 1: there is no function system",
		"exp(x0, x0)":                   "character 1: exp has 1 argument, not 2",
		"pow(x0)":                       "character 1: pow has 2 arguments, not 1",
		"exp()":                         "character 1: exp has 1 argument, not 0",
		"x0; x0":                        `character 3: ';' has no meaning in a formula`,
		"x0 ? 1":                        `character 7: the formula ends where ":" is expected`,
		"1.2.3":                         `character 1: "1.2.3" is not a number`,
		"1_000":                         `character 1: "1_000" is not a number`,
		"99999999999999999999":          "character 1: 99999999999999999999 is larger than the largest integer",
		"sum(sum(x0))":                  "character 1: a formula has one reduction, and this is another one",
		"sum(x0) + x0":                  "character 11: x0 is a tensor, and stands outside of the reduction",
		"sum(x0) + i":                   "character 11: i is the number of an element, and stands outside of the reduction",
		"x0 & 1":                        "character 4: & is for the bits of integers, and these are f32",
		"~x0":                           "character 1: ~ turns the bits of integers, and this is f32",
		"x0 + x1":                       "character 6: there is no operand x1: 1 were given",
		"random(0.5)":                   "character 1: the seed of random is an integer",
		"u8(x0) + 300":                  "character 10: 300 is out of the range of u8",
		strings.Repeat("(", 200):        "character 101: the formula is nested more than 100 deep",
		strings.Repeat("-", 200):        "character 100: the formula is nested more than 100 deep",
		"1" + strings.Repeat("+1", 200): "character 200: more than 100 operators follow each other",
	} {
		_, err := checked(text, f32)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

func TestPromote(t *testing.T) {
	for _, c := range [][3]Type{
		{element.I8, element.U8, element.I32}, {element.U8, element.I32, element.I32}, {element.U32, element.I32, element.I64},
		{element.I8, element.U32, element.I64},
		{element.U64, element.I64, element.F64}, {element.U8, element.U64, element.U64}, {element.I8, element.F16, element.F16},
		{element.I32, element.F32, element.F64},
		{element.F16, element.BF16, element.F32}, {element.F16, element.F32, element.F32},
		{element.F8E4M3, element.F8E5M2, element.F16}, {element.F8E4M3, element.BF16, element.BF16},
	} {
		if a, b := Promote(c[0], c[1]), Promote(c[1], c[0]); a != c[2] || b != c[2] {
			t.Errorf("%v and %v are %v and %v, want %v", c[0], c[1], a, b, c[2])
		}
	}
}

// The page of formulas names every function and reduction.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/arithmetic.md")
	if err != nil {
		t.Fatal(err)
	}
	_, formulas, _ := strings.Cut(string(page), "\n## Formulas")
	formulas, _, _ = strings.Cut(formulas, "\n## ")
	for name := range functions {
		if to := functions[name].class; to != converting && !regexp.MustCompile("`[a-z0-9\\s]*\\b"+name+"\\b[^`]*`").MatchString(formulas) {
			t.Errorf("docs/arithmetic.md does not have the function %s", name)
		}
	}
	for name := range reductions {
		if !regexp.MustCompile("Reductions: `[a-z ]*\\b" + name + "\\b").MatchString(formulas) {
			t.Errorf("docs/arithmetic.md does not have the reduction %s", name)
		}
	}
}

// safe matches a printed formula.
var safe = regexp.MustCompile(`^(calc::[a-z0-9_]+|symm::[a-z0-9]+|v\d+|0x[0-9a-f]+ull|\d+ull|true|false|rank|size|i|n|reduced|float|double|bool|&&|\|\||[(),<>?:! ])*$`)

// FuzzParse parses hostile text. Whatever is accepted is printed from names of this package alone.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"x0*x1 + rank", "max(abs(x0))", "sqrt(sum(x0*x0)/n)", "x0 > 0 ? exp(x0) : -1e-3",
		"a\"); system(\"rm\"); (\"", "x0 /* */ + 1", "__syncthreads()", "x0\n#include <x>", "0x1p-3", "~i << 3 & 0xff",
		"where(isnan(x0), 0, x0)", "u8(300)", "%%", "\\u0041", "x0 ? x1 : x2 ? 1 : 2"} {
		f.Add(text)
	}
	operands := make([]Operand, MaxOperands)
	for i := range operands {
		operands[i] = []Operand{{Type: element.F32}, {Type: element.I32}, {Type: element.U8}, {Integer, true}, {Float, true}, {Type: element.BF16}}[i%6]
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := checked(text, operands...)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.At < 0 || e.At > len(text) || e.Msg == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		inner, _ := c.Inner()
		texts := []string{inner}
		if c.Tree.Reduces() {
			outer, _ := c.Outer()
			texts = append(texts, outer)
		}
		for _, printed := range texts {
			if !safe.MatchString(printed) || strings.Count(printed, "(") != strings.Count(printed, ")") {
				t.Fatalf("%q becomes %q", text, printed)
			}
		}
	})
}
