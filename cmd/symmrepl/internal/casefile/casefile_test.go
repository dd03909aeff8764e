package casefile

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A block has the statements with their lines, and ends where the comment ends.
func TestRead(t *testing.T) {
	f, err := Read("a.cu", `// A comment.
// symm: test one_shot
//
// x symmetric f32[1000] = rank + i
//	out  f32[10, 100*size]
// scale<float, 4><<<dim3(4, 1, 2), 256, 4*1024>>>(handle(x), out, 1000, 0.5f,
//     rank == 0) on 0, size-1 repeat 3 stream s
// go println("x")
// meet
// expect out == rank_sum(x[i % 3]) on 1
// expect x ~= on(0, x) * 2 rtol 1e-5 atol 0.5
// expect finding race between ranks
// expect error
__global__ void k() {}
// not a statement

/* symm: test two
 * ranks 2, 4
 * hosts 2
 * k<<<1, 32>>>()
 */
// symm: test three
// k<<<1 + (1 << 2), size>>>()
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{Name: "one_shot", Line: 2, Steps: []Step{
			Tensor{Line: 4, Name: "x", Symmetric: true, Type: "f32", Shape: []string{"1000"}, Fill: "rank + i"},
			Tensor{Line: 5, Name: "out", Type: "f32", Shape: []string{"10", "100*size"}},
			Launch{Line: 6, Kernel: "scale<float, 4>", Grid: []string{"4", "1", "2"}, Block: []string{"256"}, Shared: "4*1024",
				Args: []string{"handle(x)", "out", "1000", "0.5", "rank == 0"}, On: []string{"0", "size-1"}, Repeat: "3", Stream: "s"},
			Go{8, `println("x")`},
			Meet{9},
			Compare{Line: 10, Name: "out", Formula: "rank_sum(x[i % 3])", On: []string{"1"}, FormulaCol: 18},
			Compare{Line: 11, Name: "x", Formula: "on(0, x) * 2", Close: true, Relative: "1e-5", Absolute: "0.5", FormulaCol: 16},
		}, Findings: []Outcome{{12, "race between ranks"}}, Errors: []Outcome{{13, ""}}},
		{Name: "two", Line: 17, Ranks: []int{2, 4}, Hosts: 2, Steps: []Step{Launch{Line: 20, Kernel: "k", Grid: []string{"1"}, Block: []string{"32"}}}},
		{Name: "three", Line: 22, Steps: []Step{Launch{Line: 23, Kernel: "k", Grid: []string{"1 + (1 << 2)"}, Block: []string{"size"}}}},
	}
	for i := range want {
		if i >= len(f.Cases) || !reflect.DeepEqual(f.Cases[i], want[i]) {
			t.Errorf("case %d:\n%#v\nwant\n%#v", i, f.Cases[min(i, len(f.Cases)-1)], want[i])
		}
	}
	if len(f.Cases) != len(want) {
		t.Errorf("%d cases, want %d", len(f.Cases), len(want))
	}
}

// A mistake is told at its line and column.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"// symm: one", "a.cu:1:10: test is expected behind symm:, not one (a case begins with // symm: test NAME)"},
		{"// symm: test", "a.cu:1:14: the name of the case is expected, not the end of the statement"},
		{"// symm: test a b", "a.cu:1:17: b is not expected behind the name of a case"},
		{"// symm: test a", "a.cu:1:3: the case a launches nothing (add a line such as kernel<<<1, 32>>>(x))"},
		{"// symm: test a\n// x f33[4]", "a.cu:2:6: f33 is no type of a tensor"},
		{"// symm: test a\n// x f32", "a.cu:2:9: [ is expected behind the type, not the end of the statement"},
		{"// symm: test a\n// x f32[]", "a.cu:2:10: a size is expected, not ]"},
		{"// symm: test a\n// x f32[4", "a.cu:2:11: a size is expected, not the end of the statement"},
		{"// symm: test a\n// x f32[4 +]", "a size is no expression of Go"},
		{"// symm: test a\n// x f32[4] =", "a.cu:2:14: a formula is expected, not the end of the statement"},
		{"// symm: test a\n// x f32[4]\n// x f32[4]", "a.cu:3:4: there is a tensor x already (give it another name)"},
		{"// symm: test a\n// k(x)", "a.cu:2:4: k is no statement"},
		{"// symm: test a\n// k<<<1>>>()", "a.cu:2:9: , is expected behind the size of the grid, not >>"},
		{"// symm: test a\n// k<<<1, >>>()", "a.cu:2:11: the size of a block is expected, not >>"},
		{"// symm: test a\n// k<<<1, 2>>>", "a.cu:2:15: ( is expected behind the size of a block, not the end of the statement"},
		{"// symm: test a\n// k<<<1, 2>>>(", "a.cu:2:16: an argument is expected, not the end of the statement"},
		{"// symm: test a\n// k<<<1, 2>>>(x,)", "a.cu:2:18: an argument is expected, not )"},
		{"// symm: test a\n// k<<<1, 2>>>() x", "a.cu:2:18: x is not expected behind a launch"},
		{"// symm: test a\n// k<<<1, 2>>>() on", "a.cu:2:20: a rank is expected, not the end of the statement"},
		{"// symm: test a\n// k<<<dim3(1,2,3,4), 2>>>()", "the size of the grid has at most three numbers"},
		{"// symm: test a\n// expect", "a.cu:2:10: the name of a tensor, finding or error is expected, not the end of the statement"},
		{"// symm: test a\n// expect x", "a.cu:2:12: ~ is expected behind x, or ==, not the end of the statement"},
		{"// symm: test a\n// expect x ==", "a.cu:2:15: a formula is expected, not the end of the statement"},
		{"// symm: test a\n// expect x == 1 rtol 2", "a.cu:2:18: rtol is not expected behind a formula"},
		{"// symm: test a\n// expect x ~= 1 rtol b", "a.cu:2:23: a number is expected, not b"},
		{"// symm: test a\n// expect x == (1", "a.cu:2:16: ( is not closed"},
		{"// symm: test a\n// ranks 0\n// k<<<1,1>>>()", "a.cu:2:10: a number of ranks from 1 to 1024 is expected, not 0"},
		{"// symm: test a\n// hosts 99\n// k<<<1,1>>>()", "a.cu:2:10: a number of hosts from 1 to 64 is expected, not 99"},
		{"// symm: test a\n// + 3", "a.cu:2:4: a statement is expected, not +"},
		{"// symm: test a\n// k<<<1, 1>>>('x)", "rune literal not terminated"},
		{"// symm: test a\n// k<<<1,1>>>()\n// symm: test a\n// k<<<1,1>>>()", "a.cu:3:3: a case a is at line 1 already (give it another name)"},
		{"/* symm: test a\n   k<<<1>>>() */", "a.cu:2:9: , is expected behind the size of the grid"},
	} {
		_, err := Read("a.cu", c.text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.text, err, c.want)
		}
	}
}

// A case without any one of its tokens is right or told with its place, and never ends the program.
func TestEachTokenMissing(t *testing.T) {
	const text = "// symm: test a\n// ranks 2, 4\n// x symmetric f32[10, 2] = rank + i\n// k<float><<<dim3(4, 1), 256, 16>>>(handle(x), 1.5f) on 0 repeat 2 stream s\n" +
		"// expect x ~= rank_sum(x) rtol 1e-5 on 0, 1\n// expect finding race"
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' })
	for i := range words {
		without := strings.Join(append(append([]string{}, words[:i]...), words[i+1:]...), " ")
		f, err := Read("a.cu", without)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > 6 || e.Column < 1) {
			t.Errorf("%q: %v", without, err)
		}
		if err == nil && len(f.Cases) > 1 {
			t.Errorf("%q: %d cases", without, len(f.Cases))
		}
	}
}

// Kernels of a Python file keep their lines; the cases stand in its comments.
func TestPython(t *testing.T) {
	f, err := Read("a.py", "import x  # '''\nsource = r'''\n__global__ void k(float* p) { p[0] = 1; }\n'''\nother = '''text'''\n\n# symm: test a\n# x f32[1]\n# k<<<1, 1>>>(x)\n# expect x == 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) != 1 || f.Cases[0].Line != 7 {
		t.Errorf("cases %+v", f.Cases)
	}
	lines := strings.Split(f.Text, "\n")
	for i, l := range lines {
		want := ""
		if i == 2 {
			want = "__global__ void k(float* p) { p[0] = 1; }"
		}
		if strings.TrimSpace(l) != want {
			t.Errorf("line %d is %q", i+1, l)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.cu", "// symm: test a\n// x symmetric f32[2] = i\n// k<<<1, 1>>>(x)\n// expect x == 1")
	f.Add("a.py", "s = '''__global__ void k() {}'''\n# symm: test a\n# k<<<1, 1>>>()")
	f.Add("a.cu", "/* symm: test a\n * k<<<(1), dim3(1,2)>>>() on 0 */")
	f.Fuzz(func(t *testing.T, name, text string) {
		file, err := Read(name, text)
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(text, "\n")+1 || e.Column < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if strings.Count(file.Text, "\n") != strings.Count(text, "\n") {
			t.Fatal("lines are lost")
		}
	})
}
