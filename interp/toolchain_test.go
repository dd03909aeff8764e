package interp

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/check"
)

// TestToolchain compares the expected outputs with those of the programs compiled by the Go
// toolchain. It depends on the programs and the toolchain only, so it runs with -table and -update.
func TestToolchain(t *testing.T) {
	if !*table && !*update {
		t.Skip("give -table; make conformance and make test-long do")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain here")
	}
	var all []program
	bySection := map[string]int{}
	for _, section := range sections(t) {
		programs := readPrograms(t, section)
		bySection[section] = len(programs)
		all = append(all, programs...)
	}
	got := runGo(t, all)
	for _, section := range sections(t) {
		n := bySection[section]
		if *update {
			record(t, section, all[:n], got[:n])
		} else {
			for i, p := range all[:n] {
				if got[i] != p.want {
					t.Errorf("%s/%s prints\n%s\nwant\n%s", section, p.name, got[i], p.want)
				}
			}
		}
		all, got = all[n:], got[n:]
	}
}

// record writes the outputs of a section's programs.
func record(t *testing.T, section string, programs []program, got []string) {
	t.Helper()
	var b bytes.Buffer
	for i, p := range programs {
		fmt.Fprintf(&b, "=== %s\n%s\n", p.name, got[i])
	}
	if err := os.WriteFile(filepath.Join(suite, section+".golden"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runGo compiles programs into one binary, runs it once for each program, and returns the outputs.
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
	var imports, runs strings.Builder
	for i, p := range programs {
		pkg := fmt.Sprintf("p%03d", i)
		write(filepath.Join(pkg, "p.go"), goFile(t, pkg, p))
		fmt.Fprintf(&imports, "import %q\n", "programs/"+pkg)
		fmt.Fprintf(&runs, "\t\t%s.Run,\n", pkg)
	}
	write("go.mod", "module programs\n\ngo 1.26\n")
	write("main.go", "package main\n\nimport \"os\"\nimport \"strconv\"\n"+imports.String()+
		"\nfunc main() {\n\ti, _ := strconv.Atoi(os.Args[1])\n\t[]func(){\n"+runs.String()+"\t}[i]()\n}\n")
	build := exec.Command("go", "build", "-trimpath", "-o", "programs", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		text := packagePath.ReplaceAllStringFunc(string(out), func(s string) string {
			i, _ := strconv.Atoi(s[1:4])
			return programs[i].name + s[4:]
		})
		t.Fatalf("go build: %v\n%s", err, text)
	}
	got := make([]string, len(programs))
	for i := range programs {
		got[i] = runOne(filepath.Join(dir, "programs"), i)
	}
	return got
}

// packagePath matches the place of a program in the compiler's messages.
var packagePath = regexp.MustCompile(`p\d\d\d/p\.go`)

// runOne runs program i and returns its output. The packages of the programs are shown as main
// there.
func runOne(binary string, i int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, strconv.Itoa(i))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	said, failure := "", ""
	if err := cmd.Run(); err != nil {
		failure = err.Error()
	}
	said = stderr.String()
	if at := panicLine.FindStringIndex(said); failure != "" && at != nil {
		failure, _, _ = strings.Cut(said[at[0]:], "\n\n")
		failure, _, _ = strings.Cut(failure, "\n[signal ")
		said = said[:at[0]]
	}
	pkg := fmt.Sprintf("p%03d", i)
	return strings.NewReplacer("programs/"+pkg+".", "main.", pkg+".", "main.").Replace(outputOf(stdout.String(), said, failure))
}

// panicLine matches the beginning of a panic's report.
var panicLine = regexp.MustCompile(`(?m)^(panic|fatal error): `)

// goFile makes a Go file of a program: its statements become the body of Run.
func goFile(t *testing.T, pkg string, p program) string {
	t.Helper()
	items, errs := check.Split(p.source)
	if errs != nil {
		t.Fatalf("%s: %v", p.name, errs)
	}
	var imports, decls, stmts strings.Builder
	for _, it := range items {
		text := p.source[it.Start:it.End] + "\n"
		switch {
		case strings.HasPrefix(text, "import"):
			imports.WriteString(text)
		case it.Decl || packageVar.MatchString(text):
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
		t.Fatalf("%s: %v\n%s", p.name, err, file)
	}
	return file
}

// packageVar matches variables that functions of the same program use.
var packageVar = regexp.MustCompile(`^var [A-Z]\w* `)
