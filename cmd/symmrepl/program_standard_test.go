package main

import (
	"strings"
	"testing"
	"time"
)

// A program reads the standard input of the command as Go has it: across cells, by whatever reads os.Stdin. With several ranks rank 0 has it.
func TestStandardInputOfProgram(t *testing.T) {
	h := newHome(t, 2)
	file := h.script("in.go", `import ("bufio"; "io"; "os")
var n int
fmt.Scan(&n)
fmt.Println(n)
// %%
b := make([]byte, 1)
k, _ := os.Stdin.Read(b)
fmt.Println(k, string(b[:k]))
// %%
for s := bufio.NewScanner(io.LimitReader(os.Stdin, 3)); s.Scan(); {
	fmt.Println("line", s.Text())
}
rest, _ := io.ReadAll(os.Stdin)
fmt.Printf("%q\n", rest)
`)
	r := h.run("17\nx\nb\n\x00\xff", "run", "-n", "1", "--device", device(), file)
	if want := (result{0, "17\n1 x\nline \nline b\n\"\\x00\\xff\"\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = h.run("17\nx\nb\n", "run", "-n", "2", "--device", device(), file)
	if want := "[0] 17\n[1] 0\n"; r.status != 0 || !strings.HasPrefix(r.out, want) {
		t.Errorf("%+v, want what begins with %q", r, want)
	}
	r = h.run("5 6\n", "-n", "1", "--device", device(), "-e", `var a, b int; n, err := fmt.Scan(&a, &b); fmt.Println(n, err, a+b)`)
	if want := (result{0, "2 <nil> 11\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = h.run(`import "os"
fmt.Println(fmt.Scan(new(int))); fmt.Println(os.Args)`, "run", "-n", "1", "--device", device(), "-", "a", "-")
	if want := (result{0, "0 EOF\n[- a -]\n", ""}); r != want {
		t.Errorf("a script from standard input: %+v, want %+v", r, want)
	}
}

// A program that reads from a terminal gets what is typed there, and Ctrl-C ends it.
func TestTerminalInputOfProgram(t *testing.T) {
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
	time.Sleep(2 * time.Second) // the user thinks
	x.send("Ada\r")
	x.expect(`"Ada\n" <nil>`)
	x.send(ctrlC)
	x.exit(130)
	x.mu.Lock()
	defer x.mu.Unlock()
	if shown := x.shown.String(); strings.Contains(shown, "has run for") {
		t.Errorf("a table in the middle of the input:\n%s", shown)
	}
}

// Programs find the file and the arguments of the command line in os.Args, and package flag parses them.
func TestArgumentsOfProgram(t *testing.T) {
	h := newHome(t, 2)
	file := h.script("args.go", `package main

import ("flag"; "fmt"; "os")

func main() {
	n := flag.Int("n", 1, "how many")
	flag.Parse()
	fmt.Println(os.Args[1:], *n, flag.Args(), flag.CommandLine.Name() == os.Args[0])
}
`)
	r := h.run("", "run", "-n", "2", "--device", device(), file, "x", "--", "y")
	if want := (result{0, "[0,1] [x y] 1 [x y] true\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = h.run("", "run", "-n", "1", "--device", device(), file, "--", "-n", "3", "z")
	if want := (result{0, "[-n 3 z] 3 [z] true\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = h.run("", "run", "-n", "1", "--device", device(), file, "--", "-m")
	if r.status != 2 || r.err != "flag provided but not defined: -m\nUsage of "+file+":\n  -n int\n    \thow many (default 1)\n" {
		t.Errorf("%+v", r)
	}
	r = h.run("", "run", file, "-m")
	if r.status != 2 || !strings.Contains(r.err, "there is no flag -m; flags of the program stand after --: symmrepl run "+file+" -- -flag") {
		t.Errorf("%+v", r)
	}
	r = h.run(`import ("flag"; "os")
len(os.Args)
os.Args = []string{"x", "-k=7"}
k := flag.Int("k", 1, "")
flag.Parse()
*k
`, "-n", "1", "--device", device())
	if want := (result{0, "1\n7\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// A program ends the command with the status that it wants, after all that it has printed, and no rank is blamed.
func TestExitOfProgram(t *testing.T) {
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
		t.Errorf("Goexit of all: %+v", r)
	}
	file := h.script("exit.go", "import \"os\"\n// %%rank [0]\nos.Exit(2)\n// %%\nfmt.Println(\"not reached\")\n")
	if got, want := h.run("", "run", "-n", "2", "--device", device(), file), (result{2, "", ""}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := h.run("", "-n", "1", "--device", device(), "-e", `panic("no")`); got.status != 1 || !strings.Contains(got.err, "panic: no") {
		t.Errorf("%+v", got)
	}
	h.expectNothingLeft()
}

// The positions of log messages are those of the script, by whatever way a logger is called.
func TestPositionsOfLog(t *testing.T) {
	h := newHome(t, 1)
	file := h.script("log.go", `import ("log"; "os")
l := log.New(os.Stdout, "p: ", log.Lshortfile)
l.Print("x")
l.SetPrefix("q: ")
l.SetFlags(log.Lshortfile | log.Lmsgprefix)
func() {
	defer l.Printf("%d", 1)
}()
f := l.Println; f("value")
type T struct{ *log.Logger }
T{l}.Print("promoted")
log.SetOutput(os.Stdout)
log.SetFlags(log.Llongfile)
log.Println("long")
func() { defer func() { fmt.Println(recover()) }(); log.Panicf("%s", "p") }()
`)
	r := h.run("", "run", "-n", "1", "--device", device(), file)
	want := "p: log.go:3: x\nlog.go:7: q: 1\nlog.go:9: q: value\nlog.go:11: q: promoted\n" + file + ":14: long\n" + file + ":15: p\np\n"
	if r != (result{0, want, ""}) {
		t.Errorf("%+v, want %q", r, want)
	}
	file = h.script("caller.go", "import (\"path/filepath\"; \"runtime\")\n_, name, line, ok := runtime.Caller(0)\nfmt.Println(filepath.Base(name), line, ok)\n")
	if r, want := h.run("", "run", "-n", "1", "--device", device(), file), (result{0, "caller.go 2 true\n", ""}); r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = h.run("import (\"log\"; \"os\")\nlog.New(os.Stdout, \"\", log.Lshortfile).Print(\"y\")\nlog.Fatal(\"stays\")\n1\n", "-n", "1", "--device", device())
	if r.out != "cell[2]:1: y\n1\n" || !strings.Contains(r.err, "panic: stays") {
		t.Errorf("at the prompt: %+v", r)
	}
}
