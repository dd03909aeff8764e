package finding

import (
	"fmt"
	"strings"
	"testing"
)

const race = `{"rank": %d, "seed": 3, "lines": {"%d": {"file": "prog.py", "line": %[2]d, "source": "k(x)  // symm:allow never"}}, "findings": [
	{"kind": 7, "why": 0, "count": 1, "size": 4, "address": 4100, "memory": "",
	 "in": {"name": "int32[4]", "peer": 1, "address": 4096, "bytes": 16, "element": "element", "size": 4},
	 "places": [{"rank": 0, "caller": 12, "host": true, "write": true}, {"rank": 1, "caller": 13, "kernel": "k", "block": [0, 0, 0], "thread": [5, 0, 0]}]}]}`

// The line of an access is in the report of the rank that made it, and a finding of two ranks is one.
func TestProgram(t *testing.T) {
	var p Program
	for rank, line := range []int{12, 13} {
		if err := p.Add(fmt.Appendf(nil, race, rank, line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Add([]byte(`{"rank": 1, "ended": true, "unseen": [{"what": "Tensor.numpy", "at": {"file": "prog.py", "line": 3}}]}`)); err != nil {
		t.Fatal(err)
	}
	list := p.Findings()
	if len(list) != 1 || fmt.Sprint(list[0].Ranks) != "[0 1]" || list[0].Memory != "in int32[4] of rank 1" || list[0].Seed != 3 {
		t.Fatalf("the findings are %+v", list)
	}
	if a := list[0].Accesses; a[0].Place() != "prog.py:12" || a[1].Place() != "prog.py:13" || a[1].Thread[0] != 5 || a[0].Op != "writes" {
		t.Errorf("the accesses are %+v", a)
	}
	if p.Ended(0) || !p.Ended(1) || len(p.Unseen()) != 1 {
		t.Errorf("ended %v and %v, unseen %v", p.Ended(0), p.Ended(1), p.Unseen())
	}
}

func TestNoReports(t *testing.T) {
	var p Program
	for _, c := range []struct{ message, want string }{
		{``, "no report"},
		{`[]`, "no report"},
		{`{"rank": "x"}`, "no report"},
		{`{"lines": {"x": {}}}`, "no report"},
		{`{"findings": [{"kind": 99, "places": [{}]}]}`, "no kind 99"},
		{`{"findings": [{"kind": -1, "places": [{}]}]}`, "no kind -1"},
		{`{"findings": [{"kind": 0}]}`, "0 places"},
		{`{"findings": [{"kind": 9, "places": [{}, {}, {}]}]}`, "3 places"},
		{`{"findings": [{"kind": 0, "places": [{}], "in": {"size": 0}}]}`, "elements of 0"},
		{`{"findings": [{"kind": 0, "places": [{"module": {"line": -1}}]}]}`, "line -1"},
		{`{"findings": [{"kind": 0, "address": -1, "places": [{}]}]}`, "no report"},
	} {
		if err := p.Add([]byte(c.message)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.message, err, c.want)
		}
	}
	if list := p.Findings(); len(list) > 0 {
		t.Errorf("the findings are %v", list)
	}
	for _, odd := range []string{ // what no rank sends, but does no harm
		`{"findings": [{"kind": 6, "why": 77, "size": -4, "count": -1, "places": [{"rank": -1, "part": 9}, {"module": {"library": "/dev/null", "name": "x", "line": 3, "text": ""}, "pc": 5}]}]}`,
		`{"findings": [{"kind": 4, "address": 18446744073709551615, "places": [{}, {}], "in": {"name": "x", "address": 1, "bytes": 4, "size": 1}}]}`,
		`{"findings": null, "lines": null}`,
	} {
		if err := p.Add([]byte(odd)); err != nil {
			t.Errorf("%s: %v", odd, err)
		}
	}
	if list := p.Findings(); len(list) != 2 {
		t.Errorf("the findings are %v", list)
	}
}
