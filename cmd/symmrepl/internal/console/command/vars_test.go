package command

import (
	"context"
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
	c.Run(context.Background(), ":vars")
	want := `ranks  name  type          size     value
0-3    x     int           8 B      1
0,3    rank  int           8 B      0
1,2    rank  int           8 B      1
2      only  string        2.0 KiB  "a b"
3      t     *symm.Tensor  16 B     f32[2, 2] on cpu
                                      0 1
                                      2 3
3      u     int           8 B      5
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out, want)
	}
}
