package operators

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// All has each row once, under a name and a call of its own, and each sort of option is named and
// taken.
func TestAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "operators.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				declared += len(spec.(*ast.ValueSpec).Names)
			}
		}
	}
	if declared-1 != len(All) { // All is a variable, too
		t.Errorf("%d operators are declared, and All has %d", declared-1, len(All))
	}
	var taken Options
	seen := map[string]bool{}
	for _, o := range All {
		if seen[o.Name] || seen[o.Call] && o.Call != o.Name {
			t.Errorf("%s, %s: there are two", o.Name, o.Call)
		}
		seen[o.Name], seen[o.Call] = true, true
		if taken |= o.Options; (o.NCCL || o.NVSHMEM) && o.Options&Via == 0 || o.Hosts && o.Instead != "" {
			t.Errorf("%s contradicts itself: %+v", o.Name, o)
		}
	}
	if all := Options(1)<<len(sorts) - 1; taken != all {
		t.Errorf("nothing takes %v", all&^taken)
	}
}

func TestOf(t *testing.T) {
	for sort, want := range map[Options]string{
		CopyEngine: "ReduceScatter, AllGather and AllToAll",
		Weak:       "PutWithSignal and SignalAdd",
		MajorAlign: "AllToAllVDev2D",
		Into:       "TokenSwitch.Dispatch, TokenSwitch.DispatchSend, TokenSwitch.Combine, Map and Reduce",
		Stream:     "operations that are put in a stream",
	} {
		if got := sort.Of(); got != want {
			t.Errorf("%v is an option of %s, want %s", sort, got, want)
		}
	}
	if got := (Stream | Via).String(); got != "a *Stream, Via" {
		t.Errorf("the sorts are %q", got)
	}
}
