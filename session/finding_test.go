package session

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// A finding is reported once, whichever ranks have found it and in whichever order its accesses
// came.
func TestFindingsAreFolded(t *testing.T) {
	c := launch(t, 3)
	reply := c.Eval(context.Background(), Cell{Source: `find race between ranks: 3 7 "a"
1:find race between ranks: 7 3 "a"
2:find race in a block: 3 7 "a"
0:find order too weak: 5 5 "x = 1; // symm:allow order: one writer"
0:find order too weak: 6 6 "x = 1; // symm:allow race"`})
	var got []string
	for _, f := range reply.Findings {
		got = append(got, fmt.Sprintf("%s %v at %s, seed %d, cell %d, allowed %q", f.Kind, f.Ranks, f.Accesses[0].Place(), f.Seed,
			f.Cell, f.Allowed))
	}
	want := []string{
		`race between ranks [0 1 2] at cell:3, seed 0, cell 1, allowed ""`,
		`order too weak [0] at cell:5, seed 0, cell 1, allowed "cell:5: one writer"`,
		`order too weak [0] at cell:6, seed 0, cell 1, allowed ""`,
		`race in a block [2] at cell:3, seed 2, cell 1, allowed ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if reply := c.Eval(context.Background(), Cell{Source: "nothing"}); len(reply.Findings) > 0 {
		t.Errorf("the next cell has %v", reply.Findings)
	}
}
