package waits

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Each kind that the device names has a row, and no text of a row has a brace left.
func TestKinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../device/watch.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Wait") {
			named++
		}
		return true
	})
	const states = 7 // WaitNone to WaitLost
	if named-states != len(kinds) {
		t.Errorf("watch.go names %d kinds, and %d have a row", named-states, len(kinds))
	}
	for kind, row := range kinds {
		r := &device.WaitRecord{Kind: kind, Rank: 1, Peer: 2, Channel: 3, Want: 4, Seen: 5}
		for _, text := range []string{row.What(r), row.Of(r, 6), row.Hint(r, 6)} {
			if strings.ContainsAny(text, "{}") {
				t.Errorf("kind %d: %q", kind, text)
			}
		}
		if Of(r) != row || row.What(r) == "" || !row.Set && row.whom != "" && !strings.Contains(row.Of(r, 6), "rank 6") && kind != device.WaitWord {
			t.Errorf("kind %d is %q, of a rank %q", kind, row.What(r), row.Of(r, 6))
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		r              device.WaitRecord
		what, of, hint string
		peer           int
	}{
		{device.WaitRecord{Kind: device.WaitSignal, Peer: 1, Channel: 3}, "a signal on channel 3",
			"a signal of rank 9 on channel 3, which never came", "rank 9 must put it", 1},
		{device.WaitRecord{Kind: device.WaitWord, Rank: 1, Peer: 1, Channel: 3, Want: 4, Seen: 5},
			"signal word 3 to become 4; it is 5", "signal word 3 to become 4; it is 5", "", -1},
		{device.WaitRecord{Kind: device.WaitWord, Rank: 1, Peer: 2}, "signal word 0 to become 0; it is 0", "signal word 0 to become 0; it is 0", "", 2},
		{device.WaitRecord{Kind: device.WaitLowLatency, Rank: 1, Peer: 2, Channel: 7}, "a value in low-latency slot 7", "rank 9", "", -1},
		{device.WaitRecord{Kind: device.WaitNetTokens, Peer: 2, Channel: 2}, "tokens, between hosts",
			"tokens of rank 9, between hosts", "rank 9 must make the same call", 2},
		{device.WaitRecord{Kind: 99, Peer: 2}, "something in a kernel of yours", "rank 9", "", 2},
	} {
		k := Of(&c.r)
		if what, of, hint, peer := k.What(&c.r), k.Of(&c.r, 9), k.Hint(&c.r, 9),
			k.Peer(&c.r); what != c.what || of != c.of || hint != c.hint || peer != c.peer {
			t.Errorf("%+v: %q, %q, %q, %d", c.r, what, of, hint, peer)
		}
	}
}
