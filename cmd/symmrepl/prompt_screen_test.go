package main

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

// Escape sequences do not reach the terminal when the session cites panics, errors, or values with
// a String method of their own.
func TestEscapesInWhatIsCited(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter(`panic("p\x1b]0;owned\a")`)
	x.expect(`\x1b]0;owned`)
	x.enter(`type owner struct{}; func (owner) String() string { return "v\x1b]0;owned\a\x1b[2J" }`)
	x.enter(`owner{}`)
	x.expect(`v\x1b]0;owned\x07\x1b[2J`)
	x.enter(`panic(owner{})`)
	x.expect(`v\x1b]0;owned`)
	x.enter(`import "errors"; panic(errors.New("e\x1b]0;owned\a"))`)
	x.expect(`e\x1b]0;owned`)
	x.expect("symm> ")
	x.mu.Lock()
	raw := x.raw.String()
	x.mu.Unlock()
	if strings.Contains(raw, "\x1b]0;owned") {
		t.Errorf("the title was set: %q", raw)
	}
}

func TestQuestionAtPrompt(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("strings.ToUpper?")
	x.expect("func ToUpper(s string) string")
	x.enter("?:on")
	x.expect("choose the ranks that cells run on")
	x.enter("nosuchname?")
	x.expect("nothing is known of nosuchname\n")
	x.enter("40 + 2")
	x.expect("42\n")
}

// At the edge of the screen, lessons are broken between words.
func TestLessonsFitTheScreen(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	x.send(":tutorial 01\r")
	x.expect("A program for four GPUs\nusually has four processes")
	x.expect("    rank 0 runs it   rank 1 runs it   rank 2 runs it")
}

// At the edge of the screen, errors, remarks and help are broken between words.
func TestRemarksFitTheScreen(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	x.send("symm.Explain(42)\r")
	x.expect("[0,1] cell[1]:1:14: cannot use 42 (untyped int constant) as\n[0,1]   func() value in argument to symm.Explain\n[0,1]     symm.Explain(42)\n")
	x.enter(":restart 1")
	x.expect("[1] rank 1 was restarted: a fresh worker took over,\n[1]   variables are lost there (`:restart replay` runs the\n[1]   cells again)\n")
	x.enter(":help save")
	x.expect("\"symmrepl run FILE\" and \":load FILE\" run them again. The\nfile is Go:")
	x.enter(":help")
	x.expect("  :edit [N|new]\n    edit a cell in your editor, and run it as a new cell\n")
	x.enter(":tutorial")
	x.expect("02-symmetric-memory           0 of 3  Symmetric memory and\n                                      handles: ")
}

// The prompt shows types by the names that cells use. The help on a name is complete and has no
// references that lead nowhere.
func TestNamesAtPrompt(t *testing.T) {
	t.Parallel()
	x := newHome(t, 1).terminal("-n", "1", "--device", device())
	x.enter("t := symm.Empty(symm.F32, 4); h := symm.Rendezvous(t)")
	x.enter(":type t")
	x.expect("*symm.Tensor\n")
	x.enter(":vars")
	x.expect("*symm.Tensor ")
	x.enter("[]*symm.Tensor{t}")
	x.expect("[]*symm.Tensor{f32[4] on ")
	x.enter("t?")
	x.expect("var t *symm.Tensor\n")
	x.enter(":doc symm.Tensor")
	x.expect("func (t *Tensor) Fill(x any) *Tensor  // Fill sets every element to x, a number of any Go type\n")
	x.enter("symm.AllReduce?")
	x.expect("Shapes: t is symmetric, or a part")
	x.enter(`symm.Explain(func() { symm.AllReduce(t, "sum"); symm.AllReduce(t, "max") })`)
	x.expect("\n")
	x.expect("symm> ")
	x.refuse(`\n`)
	x.refuse("[Runtime.")
	x.refuse("symmem.Tensor")
	x.send(`fmt.Printf("%T\n", t)` + "\r")
	x.expect("*symmem.Tensor\n") // as in the program that :export writes
}

// If a name was lost with its rank, the error says so and names the cell in which it was lost.
func TestNamesLostAtPrompt(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("kept := 40")
	x.enter(`import "os"; if symm.Rank() == 1 { os.Exit(3) }`)
	x.expect("rank 1 exited with status 3")
	x.enter("kept + 2")
	x.expect("[0] 42\n")
	x.expect("undefined: kept")
	x.expect("rank 1 was replaced in cell 2, which lost kept there: `:restart replay`")
	x.enter(":restart replay")
	x.enter("kept + 2")
	x.expect("[0,1] 42\n")
	x.enter("unknown")
	x.expect("undefined: unknown\n")
}

// Values are laid out for the width of the terminal at the moment when the cell is entered.
func TestValuesFitTheScreen(t *testing.T) {
	t.Parallel()
	x := newHome(t, 2).terminal("-n", "2", "--device", device())
	x.enter("xs := make([]int, 45); strs := []string{strings.Repeat(\"a\", 50), strings.Repeat(\"b\", 50)}")
	x.enter("xs")
	x.expect("[0,1] []int{" + strings.Repeat("0, ", 44) + "0}\n") // 200 columns
	x.expect("symm> ")
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 60}); err != nil {
		t.Fatal(err)
	}
	x.send("xs\r")
	x.expect("[0,1] []int{\n[0,1] \t0, 0,")
	x.enter(":doc strings.Cut")
	x.expect("[0,1] Cut slices s around the first instance of sep")
	x.enter("symm.AllReduce?")
	x.expect("AllReduce combines")
	x.enter(":vars")
	x.expect("symm> ")
	for line := range strings.Lines(shown(x)[strings.LastIndex(shown(x), ":doc strings.Cut"):]) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 && !strings.Contains(line, "func ") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
}

// Text of the program itself is broken between words also where no session runs, and on a terminal that
// understands no escapes.
func TestProseFitsTheScreen(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "1", "--device", "cpu", "-e", "symm.Explain(42)"}, "symm.Explain(42)"},
		{[]string{"-n", "1", "--device", "cpu", "--hosts", "0-3/nonsense"}, "symmrepl --help explains"},
		{[]string{"doctor"}, "CPU"},
	} {
		cmd := h.command(c.args...)
		cmd.Env = append(cmd.Environ(), "TERM=dumb")
		x := h.terminalWide(cmd, 50)
		x.expect(c.want)
		x.cmd.Wait()
		x.mu.Lock()
		for line := range strings.Lines(x.shown.String()) {
			line = strings.TrimRight(line, "\n")
			if len([]rune(line)) > 50 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%q: %q could be broken at a blank", c.args, line)
			}
		}
		x.mu.Unlock()
	}
}
