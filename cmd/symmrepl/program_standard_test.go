package main

import (
	"strings"
	"testing"
	"time"
)

// Standard input may be binary. A program given by -e can read it too.
func TestStandardInputOfProgram(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	file := h.script("in.go", "import (\"io\"; \"os\")\nall, _ := io.ReadAll(os.Stdin)\nfmt.Printf(\"%q\\n\", all)\n")
	r := h.run("b\n\x00\xff", "run", "-n", "1", "--device", device(), file)
	if want := (result{0, "\"b\\n\\x00\\xff\"\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = h.run("5 6\n", "-n", "1", "--device", device(), "-e", `var a, b int; n, err := fmt.Scan(&a, &b); fmt.Println(n, err, a+b)`)
	if want := (result{0, "2 <nil> 11\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// A program that reads from a terminal receives the typed lines, and Ctrl-C ends it.
func TestTerminalInputOfProgram(t *testing.T) {
	t.Parallel()
	h := newHome(t, 1)
	file := h.script("ask.go", `package main

import ("bufio"; "fmt"; "os")

func main() {
	fmt.Print("name? ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Printf("%q %v\n", line, err)
	fmt.Scan(&line)
}
`)
	x := h.terminal("run", "-n", "1", "--device", device(), file)
	x.expect("name? ")
	time.Sleep(2 * time.Second) // the user takes time to type
	x.send("Ada\r")
	x.expect(`"Ada\n" <nil>`)
	x.send(ctrlC)
	x.exit(130)
	x.mu.Lock()
	defer x.mu.Unlock()
	if shown := x.shown.String(); strings.Contains(shown, "has run for") {
		t.Errorf("the table of waits appears while the user types:\n%s", shown)
	}
}

// A program chooses the exit status of the command. All its output appears before the end, and no
// error blames a rank.
func TestExitOfProgram(t *testing.T) {
	t.Parallel()
	h := newHome(t, 2)
	for _, test := range []struct {
		code string
		want result
	}{
		{`import "os"; fmt.Print("last"); defer fmt.Println("not"); os.Exit(3)`, result{3, "[0,1] last\n", ""}},
		{`import "os"; os.Exit(symm.Rank())`, result{1, "", ""}},
		{`import "os"; fmt.Println("ends"); os.Exit(0)`, result{0, "[0,1] ends\n", ""}},
		{`import "log"; log.SetFlags(0); log.Fatal("no ", 1)`, result{1, "", "[0,1] no 1\n"}},
		{`import ("log"; "os"); log.New(os.Stderr, "p: ", 0).Fatalln("no")`, result{1, "", "[0,1] p: no\n"}},
		{`import "os"; go os.Exit(4); select {}`, result{4, "", ""}},
		{`import "os"; if symm.Rank() == 1 { os.Exit(5) }`, result{5, "", ""}},
	} {
		got := h.run("", "-n", "2", "--device", device(), "-e", test.code)
		if strings.HasSuffix(got.out, "last") {
			got.out += "\n"
		}
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.code, got, test.want)
		}
	}
	r := h.run("", "-n", "1", "--device", device(), "-e",
		`import ("os"; "runtime"; "time"); go func() { time.Sleep(time.Second / 10); fmt.Println("last"); os.Exit(6) }(); runtime.Goexit()`)
	if want := (result{6, "last\n", ""}); r != want {
		t.Errorf("after Goexit: %+v, want %+v", r, want)
	}
	r = h.run("", "-n", "1", "--device", device(), "-e", `import "runtime"; runtime.Goexit()`)
	if r.status != 1 || !strings.Contains(r.err, "fatal error: no goroutines (main called runtime.Goexit) - deadlock!") {
		t.Errorf("after Goexit on all ranks: %+v", r)
	}
	if got := h.run("", "-n", "1", "--device", device(), "-e", `panic("no")`); got.status != 1 || !strings.Contains(got.err, "panic: no") {
		t.Errorf("%+v", got)
	}
	h.expectNothingLeft()
}
