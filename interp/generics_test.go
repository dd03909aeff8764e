package interp

import (
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestGenericsOverCells(t *testing.T) {
	runSteps(t, []step{
		{cell: "scale := 2\nfunc Scaled[T ~int | ~float64](x T) T { return x * T(scale) }\nScaled(3)", value: "6"},
		{cell: "scale = 5\nScaled(1.5)", value: "7.5"},
		// Names in a generic function refer to the definitions at its declaration.
		{cell: "scale := \"other\"\nfmt.Sprint(Scaled(2), Scaled(int(3)), scale)", value: `"10 15other"`},
		{cell: "type Own int\nScaled(Own(4))", value: "Own(20)"},
		// Instances made before use a function that is defined again.
		{cell: "func step(x int) int { return x + 1 }\nfunc Twice[T any](x int, _ T) int { return step(step(x)) }\nTwice(1, \"\")", value: "3"},
		{cell: "func step(x int) int { return x * 10 }\nfmt.Sprint(Twice(1, \"\"), Twice(1, 0))", value: `"100 100"`},
		// So does a generic function.
		{cell: "func Name[T any](x T) string { return fmt.Sprint(\"a\", x) }\nfunc use() string { return Name(1) + Name(\"s\") }\nuse()", value: `"a1as"`},
		{cell: "func Name[T any](x T) string { return fmt.Sprint(\"b\", x) }\nuse() + Name(2.5)", value: `"b1bsb2.5"`},
		{cell: "func Name[T any](x, y T) string { return \"c\" }\nuse() + Name(1, 2)", value: `"b1bsc"`},
		// Types.
		{cell: "type Stack[T any] struct{ items []T }\nfunc (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\nfunc (s *Stack[T]) Pop() (x T) { x = s.items[len(s.items)-1]; s.items = s.items[:len(s.items)-1]; return }\nvar s Stack[int]"},
		{cell: "s.Push(1)\ns.Push(2)\ns", value: "Stack[int]{items: []int{1, 2}}"},
		{cell: "q := Stack[Stack[string]]{}\nq.Push(Stack[string]{})\nq",
			value: "Stack[Stack[string]]{items: []Stack[string]{Stack[string]{items: []string(nil)}}}"},
		{cell: "type Stack[T any] struct{ n int }\nvar n Stack[int]\nfmt.Sprint(s.Pop(), n.n)", value: `"2 0"`},
		{cell: "s = n", err: "cell[14]:1:5: cannot use n (variable of struct type Stack[int]) as Stack[int] value in assignment", kind: session.KindType},
		{cell: "func (s Stack[T]) Late() {}",
			err: "cell[15]:1:19: methods of a generic type must be in the cell that declares it; declare the type again, with all its methods", kind: session.KindType},
		{cell: "type Acc[K comparable, V ~int] struct{ m map[K]V }\nfunc (a Acc[_, W]) Sum() (s W) { for _, v := range a.m { s += v + W(offset) }; return }\nfunc (a *Acc[K, V]) Put(k K, v V) { if a.m == nil { a.m = map[K]V{} }; a.m[k] = v }\noffset := 100\nvar acc Acc[string, int]\nacc.Put(\"a\", 1)\nacc.Put(\"b\", 2)\nacc.Sum()", value: "203"},
		{cell: "type W[T any] struct{}\nfunc (W[T]) Bad() { nope() }", err: "cell[17]:2:21: undefined: nope", kind: session.KindType},
		// Errors are those of go/types, in the generic function.
		{cell: "func Bad[T any](x T) T { return x + x }",
			err: "cell[18]:1:33: invalid operation: operator + not defined on x (variable of type T constrained by any)", kind: session.KindType},
		{cell: "func Div[T ~int](a, b T) T {\n\treturn a / b\n}\nDiv(1, 0)",
			err: "cell[19]:2:9: panic: runtime error: integer divide by zero", kind: session.KindPanic},
		{cell: "Div(6, 3)", value: "2"},
	})
}
