package console_test

import (
	"reflect"
	"strings"
	"testing"
)

func TestAssembler(t *testing.T) {
	for _, test := range []struct {
		lines string
		force bool
		want  []string
	}{
		{"x\ny", true, []string{"x", "y"}},
		{"\n\nx\n", true, []string{"x"}},
		{"func f() {\n\tx\n}\ny", true, []string{"func f() {\n\tx\n}", "y"}},
		{"func f() {\n\ny", true, []string{"func f() {\n", "y"}},
		{"func f() {\n\n}", false, []string{"func f() {\n\n}"}},
		{"f({`\n\n`})\ny", true, []string{"f({`\n\n`})", "y"}},
		{"f({`a\n`,\n\ny", true, []string{"f({`a\n`,\n", "y"}},
		{"%%rank [0]\nx\ny", true, []string{"%%rank [0]\nx", "y"}},
		{"%%rank [0]\nif x {\n}", true, []string{"%%rank [0]\nif x {\n}"}},
		{"%%time\nif x {\n}\ny", true, []string{"%%time\nif x {\n}", "y"}},
		{"%%cuda\n#include <a>\n\n__global__ void k() {\n\n  f('}'); // }\n}\n\ny", true,
			[]string{"%%cuda\n#include <a>\n\n__global__ void k() {\n\n  f('}'); // }\n}\n", "y"}},
		{"%%cd \"/\"\ny", true, []string{"%%cd \"/\"", "y"}},
		{":on 0,1 if x {\n}\ny", true, []string{":on 0,1 if x {\n}", "y"}},
		{":time if x {\n}", true, []string{":time if x {\n}"}},
		{":ti for i := range 2 {\n}", true, []string{":ti for i := range 2 {\n}"}},
		{"%tr if x {\n}\ny", true, []string{"%tr if x {\n}", "y"}},
		{":time\tif x {\n}", true, []string{":time\tif x {\n}"}},
		{"func f() {\nmistake\n}\n}\ny", true, []string{"func f() {\nmistake", "}", "}", "y"}},
		{"func f() {\nmistake\nz\n}\ny", false, []string{"func f() {\nmistake\nz\n}", "y"}},
		{"func f() mistake {\nfor (int i = 0; i < 3; i++) {\nz\n}\n}\ny", false, []string{"func f() mistake {\nfor (int i = 0; i < 3; i++) {\nz\n}\n}", "y"}},
		{"x y\nz", false, []string{"x y", "z"}},
		{":type {\n$ echo {", true, []string{":type {", "$ echo {"}},
	} {
		c, _, _ := newConsole()
		a := c.Assembler()
		var got []string
		for line := range strings.SplitSeq(test.lines, "\n") {
			if entry, complete := a.Add(line, test.force); complete {
				got = append(got, entry)
			}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: entries %q, want %q", test.lines, got, test.want)
		}
	}
}
