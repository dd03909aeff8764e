package interp

import (
	"os"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session/inband"
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

// countingOrder counts the prints that are kept in order with standard error.
type countingOrder struct {
	begun, ended int
	before       string // the text of standard error when the last print began
}

func (o *countingOrder) Begin() {
	o.begun++
	b, _ := os.ReadFile(os.Stderr.Name())
	o.before = string(b)
}
func (o *countingOrder) End() { o.ended++ }

// TestOrderedOutput checks that each way in which cells print to standard output keeps the order with
// standard error. It has a process of its own because the order is the process's.
func TestOrderedOutput(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	out, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = out, stderr }()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	errs, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	os.Stdout, os.Stderr = null, errs
	t.Setenv(inband.Variable, "1")
	var order countingOrder
	inband.SetOrder(&order)
	in := open(t, Options{})
	mustEval(t, in, `import ("bufio"; "log"; "os"; "github.com/symmrepl/symmrepl/display")`)
	for _, code := range []string{
		`fmt.Println(1)`,
		`display.Display(display.HTML("<b>1</b>"))`,
		`fmt.Fprintln(os.Stdout, 1)`,
		`os.Stdout.WriteString("1")`,
		`w := bufio.NewWriter(os.Stdout); w.WriteString("1"); w.Flush()`,
		`print1 := os.Stdout.WriteString; print1("1")`,
		`func(f func(string) (int, error)) { f("1") }(os.Stdout.WriteString)`,
		`func() { defer os.Stdout.WriteString("1") }()`,
		`type text interface{ WriteString(string) (int, error) }; var any1 text = os.Stdout; any1.WriteString("1")`,
		`type file struct{ *os.File }; file{os.Stdout}.WriteString("1")`,
		`log.New(os.Stdout, "", 0).Println(1)`,
	} {
		before := order.begun
		mustEval(t, in, code)
		if order.begun == before || order.ended != order.begun {
			t.Errorf("%s: %d ordered prints began, %d in all, and %d ended", code, order.begun-before, order.begun, order.ended)
		}
	}
	// A deferred call begins after the prints of the function's body.
	mustEval(t, in, `func() { defer os.Stdout.WriteString("1"); println("body") }()`)
	if !strings.HasSuffix(order.before, "body\n") {
		t.Errorf("the last ordered print began after %q", order.before)
	}
}
