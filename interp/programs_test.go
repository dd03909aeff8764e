package interp

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

var update = flag.Bool("update", false, "record what the Go toolchain prints for the programs of testdata")

// program is a piece of Go that prints: declarations and statements as in a cell.
type program struct {
	name, source, want string
}

// readPrograms reads a file of programs, "=== name" before each, and what each prints.
func readPrograms(t *testing.T, file string) []program {
	t.Helper()
	parts := readSections(t, file+".txt")
	golden := map[string]string{}
	for _, p := range readSections(t, file+".golden") {
		golden[p.name] = p.source
	}
	for i := range parts {
		want, ok := golden[parts[i].name]
		if !ok && !*update {
			t.Fatalf("%s.golden has no output of %q; run go test -run TestToolchain -update", file, parts[i].name)
		}
		parts[i].want = want
	}
	return parts
}

func readSections(t *testing.T, name string) []program {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if os.IsNotExist(err) && *update {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []program
	for _, section := range strings.Split("\n"+string(b), "\n=== ")[1:] {
		name, source, _ := strings.Cut(section, "\n")
		list = append(list, program{name: name, source: strings.TrimSuffix(source, "\n")})
	}
	return list
}

// captured runs cells in a fresh session and returns what they print and the first error.
func captured(t *testing.T, cells []string) (string, *session.Error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	was := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = was }()
	in, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var failed *session.Error
	for i, cell := range cells {
		if failed = in.Eval(context.Background(), session.Cell{ID: i + 1, Source: cell}).Err; failed != nil {
			break
		}
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), failed
}

// pieces cuts a program into one cell for each of its top-level items; declarations come first, as they may use each other, and labelled
// statements and their likes stay whole.
func pieces(t *testing.T, src string) []string {
	t.Helper()
	items, errs := split(src)
	if errs != nil {
		t.Fatal(errs)
	}
	var decls strings.Builder
	var cells []string
	for _, it := range items {
		if it.decl {
			decls.WriteString(src[it.start:it.end] + "\n")
		} else {
			cells = append(cells, src[it.start:it.end])
		}
	}
	return append([]string{decls.String()}, cells...)
}

func TestPrograms(t *testing.T) {
	for _, file := range []string{"language", "more", "third"} {
		for _, p := range readPrograms(t, file) {
			t.Run(file+"/"+p.name, func(t *testing.T) {
				ways := map[string][]string{"one cell": {p.source}}
				if !usesVariables.MatchString(p.source) {
					ways["a cell for each item"] = pieces(t, p.source)
				}
				for how, cells := range ways {
					got, err := captured(t, cells)
					if err != nil {
						t.Errorf("%s: %v\n%s", how, err, err.Detail)
					}
					if got != p.want+"\n" && got != p.want {
						t.Errorf("%s printed\n%swant\n%s", how, got, p.want)
					}
				}
			})
		}
	}
}

// TestToolchain compares what the programs are said to print with what they print when the Go toolchain compiles them.
func TestToolchain(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	for _, file := range []string{"language", "more", "third"} {
		programs := readPrograms(t, file)
		got := runGo(t, programs)
		if *update {
			var b bytes.Buffer
			for i, p := range programs {
				fmt.Fprintf(&b, "=== %s\n%s", p.name, got[i])
			}
			if err := os.WriteFile(filepath.Join("testdata", file+".golden"), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for i, p := range programs {
			if got[i] != p.want && got[i] != p.want+"\n" {
				t.Errorf("%s prints\n%swant\n%s", p.name, got[i], p.want)
			}
		}
	}
}

// runGo compiles programs into one binary and returns what each prints.
func runGo(t *testing.T, programs []program) []string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const separator = "\x00"
	imports, calls := "", ""
	for i, p := range programs {
		pkg := fmt.Sprintf("p%03d", i)
		write(filepath.Join(pkg, "p.go"), goFile(t, pkg, p.source))
		imports += fmt.Sprintf("import %q\n", "programs/"+pkg)
		calls += fmt.Sprintf("\t%s.Run()\n\tprint()\n\tos.Stdout.WriteString(%q)\n", pkg, separator)
	}
	write("go.mod", "module programs\n\ngo 1.26\n")
	write("main.go", "package main\n\nimport \"os\"\n"+imports+"\nfunc main() {\n"+calls+"}\n")
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, stderr.String())
	}
	parts := strings.Split(string(out), separator)
	return parts[:len(programs)]
}

// goFile makes a Go file of a program: its statements become the body of Run.
func goFile(t *testing.T, pkg, src string) string {
	t.Helper()
	items, errs := split(src)
	if errs != nil {
		t.Fatal(errs)
	}
	var imports, decls, stmts strings.Builder
	for _, it := range items {
		text := src[it.start:it.end] + "\n"
		switch {
		case strings.HasPrefix(text, "import"):
			imports.WriteString(text)
		case it.decl || packageVar.MatchString(text):
			decls.WriteString(text)
		default:
			stmts.WriteString(text)
		}
	}
	body := decls.String() + "func Run() {\n" + stmts.String() + "}\n"
	for _, name := range []string{"fmt", "math", "strings", "time"} {
		if regexp.MustCompile(`\b`+name+`\.`).MatchString(body) && !strings.Contains(imports.String(), `"`+name+`"`) {
			fmt.Fprintf(&imports, "import %q\n", name)
		}
	}
	file := "package " + pkg + "\n\n" + imports.String() + body
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", file, 0); err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return file
}

// packageVar matches variables that functions of the same program use.
var packageVar = regexp.MustCompile(`^var [A-Z]\w+ = `)

// usesVariables matches programs that have some, which cannot be cut into cells in an order other than theirs.
var usesVariables = regexp.MustCompile(`(?m)^var [A-Z]\w+ = `)
