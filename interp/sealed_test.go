package interp

import (
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// TestSealedInterfaces checks that types of a package implement its interfaces that have unexported
// methods, and other types do not.
func TestSealedInterfaces(t *testing.T) {
	in := open(t, Options{})
	mustEval(t, in, "var g *symm.Group\nvar s *symm.Stream\nvar options []symm.Option")
	mustEval(t, in, "options = append(options, g, s, symm.Timeout(time.Second))")
	if got := mustEval(t, in, "len(options)"); got != "3" {
		t.Errorf("%s options", got)
	}
	for _, other := range []string{"5", "symm.Group{}", "new(symm.Tensor)"} {
		r := evaluate(in, session.Cell{Source: "options = append(options, " + other + ")"})
		if r.Err == nil || !strings.Contains(r.Err.Msg, "as symm.Option value") {
			t.Errorf("%s as an option: %v", other, r.Err)
		}
	}
}
