package command

import (
	"context"
	"reflect"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestVars(t *testing.T) {
	c, fake, out := newConsole()
	fake.OnInspect = func([]int, session.Query) []session.Answer {
		v := func(name, typ string, size int64, value string) session.Variable {
			return session.Variable{Name: name, Type: typ, Size: size, Value: value}
		}
		x := v("x", "int", 8, "1")
		return []session.Answer{
			{Rank: 0, Variables: []session.Variable{x, v("rank", "int", 8, "0")}},
			{Rank: 1, Variables: []session.Variable{x, v("rank", "int", 8, "1")}},
			{Rank: 2, Variables: []session.Variable{x, v("rank", "int", 8, "1"), v("only", "string", 2048, `"a b"`)}},
			{Rank: 3, Variables: []session.Variable{x, v("rank", "int", 8, "0"),
				v("t", "*symm.Tensor", 16, "f32[2, 2] on cpu\n  0 1\n  2 3"), v("u", "int", 8, "5")}},
		}
	}
	for _, test := range []struct{ command, want string }{
		{":vars *", `kind     ranks  name  type          size     value
tensors  3      t     *symm.Tensor  16 B     f32[2, 2] on cpu
                                               0 1
                                               2 3
values   0-3    x     int           8 B      1
         0,3    rank  int           8 B      0
         1,2    rank  int           8 B      1
         2      only  string        2.0 KiB  "a b"
         3      u     int           8 B      5
`},
		{":vars", `kind     ranks  name  type          size     value
tensors  3      t     *symm.Tensor  16 B     f32[2, 2] on cpu
values   0-3    x     int           8 B      1
         0,3    rank  int           8 B      0
         1,2    rank  int           8 B      1
         2      only  string        2.0 KiB  "a b"
         3      u     int           8 B      5
`},
		{":vars ra* on?y", `ranks  name  type    size     value
0,3    rank  int     8 B      0
1,2    rank  int     8 B      1
2      only  string  2.0 KiB  "a b"
`},
		{":vars t", `ranks  name  type          size  value
3      t     *symm.Tensor  16 B  f32[2, 2] on cpu
                                   0 1
                                   2 3
`},
		{":vars [u-x]", `ranks  name  type  size  value
0-3    x     int   8 B   1
3      u     int   8 B   5
`},
		{":vars y* z", "no name of a variable matches y* z; `:vars` shows all variables\n"},
		{":vars x x[", ":vars: the pattern x[: a [ needs a ] behind at least one character, as in x[0-9]\n"},
		{":vars []", ":vars: the pattern []: a [ needs a ] behind at least one character, as in x[0-9]\n"},
		{`:vars x\`, ":vars: the pattern x\\: a \\ needs a character behind it\n"},
	} {
		out.Reset()
		c.Run(context.Background(), test.command)
		if out.String() != test.want {
			t.Errorf("%s prints\n%swant\n%s", test.command, out, test.want)
		}
	}
}

// The kind of a variable follows from its type.
func TestKindsOfVariables(t *testing.T) {
	for typ, want := range map[string]string{
		"*symm.Tensor": "tensors", "[]*symm.Tensor": "tensors", "map[string]*symm.Tensor": "tensors", "[3]*symm.Kernel": "kernels",
		"*symm.Kernel": "kernels", "*symm.Handle": "handles", "*symm.Group": "handles", "[][]*symm.Stream": "handles",
		"symm.GridSize": "values", "symm.DType": "values", "func(x int) *symm.Tensor": "functions", "func()": "functions",
		"funny": "values", "struct{T *symm.Tensor}": "values", "*symm.T.U": "values", "": "values",
	} {
		if got := kindOf(session.Variable{Type: typ}); got != want {
			t.Errorf("%q is of %s, want %s", typ, got, want)
		}
	}
}

// Local variables of ranks that stand come first, also where a variable of the session has the name.
func TestLocalVariablesFirst(t *testing.T) {
	v := func(name, value string) session.Variable {
		return session.Variable{Name: name, Type: "int", Size: 8, Value: value}
	}
	kinds := kindsOf([]session.Answer{
		{Rank: 0, Locals: []session.Variable{v("x", "1")}, Variables: []session.Variable{v("x", "2")}},
		{Rank: 1, Locals: []session.Variable{v("x", "1")}, Variables: []session.Variable{v("x", "2"), v("y", "3")}},
	}, []string{"x"})
	want := [][]string{
		{"kind", "ranks", "name", "type", "size", "value"},
		{"local", "0,1", "x", "int", "8 B", "1"},
		{"values", "0,1", "x", "int", "8 B", "2"},
	}
	if got := varsTable(kinds, false, true); !reflect.DeepEqual(got, want) {
		t.Errorf("the table is %q, want %q", got, want)
	}
}
