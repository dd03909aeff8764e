package interp

import (
	"os"
	"testing"
)

// TestReplacedOutput checks that printing to standard output and error uses the values that cells
// have assigned to os.Stdout and os.Stderr, in later cells too.
func TestReplacedOutput(t *testing.T) {
	out, err := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = out, err }()
	in := open(t, Options{})
	mustEval(t, in, "import (\"io\"; \"os\")\nr, w, _ := os.Pipe()\nout, err := os.Stdout, os.Stderr\nos.Stdout, os.Stderr = w, w")
	mustEval(t, in, "fmt.Print(1); fmt.Printf(\"%d\", 2); fmt.Println(3)\nfunc() { fmt.Fprint(os.Stdout, 4); fmt.Fprint(os.Stderr, 5); println(6) }()")
	mustEval(t, in, "os.Stdout, os.Stderr = out, err\nw.Close()\nb, _ := io.ReadAll(r)")
	if got, want := mustEval(t, in, "string(b)"), "`123\n456\n`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if os.Stdout != out || os.Stderr != err {
		t.Error("the outputs of before are not in use again")
	}
}
