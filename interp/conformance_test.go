package interp

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/session"
)

var (
	update = flag.Bool("update", false, "record what the Go toolchain prints for the programs of testdata/conformance")
	table  = flag.Bool("table", false, "print how many programs of each section behave as with the Go toolchain")
)

const suite = "testdata/conformance"

// program is a piece of Go that prints: declarations and statements as in a cell.
type program struct {
	name, source, want string
}

// sections lists the files of programs, in order and without their extension.
func sections(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(suite, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".txt")
	}
	return files
}

// readPrograms reads the programs of a section, each after a line "=== name", and their expected
// output.
func readPrograms(t *testing.T, section string) []program {
	t.Helper()
	parts := readParts(t, section+".txt")
	golden := map[string]string{}
	for _, p := range readParts(t, section+".golden") {
		golden[p.name] = p.source
	}
	seen := map[string]bool{}
	for i, p := range parts {
		want, ok := golden[p.name]
		switch {
		case seen[p.name]:
			t.Fatalf("%s.txt has two programs of the name %q", section, p.name)
		case !ok && !*update:
			t.Fatalf("%s.golden has no output of %q; run go test ./interp -run TestToolchain -update", section, p.name)
		}
		seen[p.name] = true
		parts[i].want = want
	}
	return parts
}

func readParts(t *testing.T, name string) []program {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(suite, name))
	if os.IsNotExist(err) && *update {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []program
	for _, part := range strings.Split("\n"+string(b), "\n=== ")[1:] {
		name, source, _ := strings.Cut(part, "\n")
		list = append(list, program{name: name, source: strings.TrimSuffix(source, "\n")})
	}
	return list
}

// readRefused reads which programs are refused, and the error messages, from refused.list:
// "section/name: message" on each line.
func readRefused(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(suite, "refused.list"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, sentence, ok := strings.Cut(lines.Text(), ": ")
		if !ok {
			t.Fatalf("refused.list: %q is not of the form section/name: sentence", lines.Text())
		}
		list[name] = sentence
	}
	return list
}

// outputOf joins a program's standard output, standard error and panic.
func outputOf(stdout, stderr, failure string) string {
	out := stdout
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	if stderr != "" {
		out += "--- standard error\n" + strings.TrimSuffix(stderr, "\n") + "\n"
	}
	if failure != "" {
		out += "--- " + failure + "\n"
	}
	return strings.TrimSuffix(out, "\n")
}

// captured runs cells in a fresh session until one fails, and returns their output and the error.
func captured(t *testing.T, cells []string) (stdout, stderr string, failed *session.Error) {
	t.Helper()
	dir := t.TempDir()
	redirect := func(file **os.File, name string) (read func() string) {
		out, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		was := *file
		*file = out
		return func() string {
			*file = was
			out.Close()
			text, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	readStdout, readStderr := redirect(&os.Stdout, "stdout"), redirect(&os.Stderr, "stderr")
	in, err := New(Options{})
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for i, cell := range cells {
			if failed = in.Eval(ctx, session.Cell{ID: i + 1, Source: cell}).Err; failed != nil {
				break
			}
		}
	}
	stdout, stderr = readStdout(), readStderr()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return stdout, stderr, failed
}

// pieces splits a program into one cell for each top-level item. Declarations come first, because
// they may use each other; labelled statements and the like stay together.
func pieces(t *testing.T, src string) []string {
	t.Helper()
	items, errs := check.Split(src)
	if errs != nil {
		t.Fatal(errs)
	}
	var decls strings.Builder
	var cells []string
	for _, it := range items {
		if it.Decl {
			decls.WriteString(src[it.Start:it.End] + "\n")
		} else {
			cells = append(cells, src[it.Start:it.End])
		}
	}
	return append([]string{decls.String()}, cells...)
}

// usesVariables matches programs whose functions use variables. They cannot be split, because that
// changes their order.
var usesVariables = regexp.MustCompile(`(?m)^var [A-Z]\w* `)

// defersAtTop matches programs that defer at their top level. They cannot be split, because a
// separate cell would end with the deferred call.
var defersAtTop = regexp.MustCompile(`(?m)^defer `)

// Verdicts on a program in a session.
const (
	same      = iota // it behaves as with the toolchain
	refused          // an error of KindUnsupported says why it does not run
	different        // all else
)

// judge runs a program in a session, both as one cell and as a cell for each item, and compares it
// with the toolchain.
func judge(t *testing.T, p program) (verdict int, why string) {
	ways := []struct {
		name  string
		cells []string
	}{{"in one cell", []string{p.source}}}
	if !usesVariables.MatchString(p.source) && !defersAtTop.MatchString(p.source) {
		ways = append(ways, struct {
			name  string
			cells []string
		}{"in a cell for each item", pieces(t, p.source)})
	}
	for _, way := range ways {
		stdout, stderr, err := captured(t, way.cells)
		failure := ""
		switch {
		case err == nil:
		case err.Kind == session.KindUnsupported && (len(way.cells) > 1 || stdout+stderr == ""):
			return refused, err.Msg
		case err.Kind == session.KindPanic:
			failure = err.Msg
		default:
			return different, fmt.Sprintf("%s: %v\n%s", way.name, err, err.Detail)
		}
		if got := outputOf(stdout, stderr, failure); got != p.want {
			why := ""
			if err != nil {
				why = fmt.Sprintf("\nit failed: %v", err)
			}
			return different, fmt.Sprintf("%s it prints\n%s\nwant\n%s%s", way.name, got, p.want, why)
		}
	}
	return same, ""
}

// TestConformance checks that each program either behaves in a session as with the Go toolchain, or
// is refused and listed in refused.list.
func TestConformance(t *testing.T) {
	known := readRefused(t)
	unused := slices.Sorted(maps.Keys(known))
	tally := map[string][3]int{}
	for _, section := range sections(t) {
		for _, p := range readPrograms(t, section) {
			name := section + "/" + p.name
			t.Run(name, func(t *testing.T) {
				verdict, why := judge(t, p)
				n := tally[section]
				n[verdict]++
				tally[section] = n
				switch {
				case verdict == different:
					t.Error(why)
				case verdict == refused && known[name] != why:
					t.Errorf("it is refused, and refused.list does not say so:\n%s: %s", name, why)
				case verdict == same && known[name] != "":
					t.Error("it runs, and refused.list says that it is refused")
				}
			})
			unused = slices.DeleteFunc(unused, func(n string) bool { return n == name })
		}
	}
	for _, name := range unused {
		t.Errorf("refused.list names %s, which is no program", name)
	}
	if *table {
		printTable(sections(t), tally)
	}
}

// printTable prints the verdicts by section.
func printTable(sections []string, tally map[string][3]int) {
	fmt.Printf("%-32s %8s %8s %8s %9s\n", "section", "programs", "same", "refused", "different")
	line := func(name string, n [3]int) {
		fmt.Printf("%-32s %8d %8d %8d %9d\n", name, n[same]+n[refused]+n[different], n[same], n[refused], n[different])
	}
	var total [3]int
	for _, s := range sections {
		line(strings.ReplaceAll(s[strings.IndexByte(s, '-')+1:], "-", " "), tally[s])
		for i, n := range tally[s] {
			total[i] += n
		}
	}
	line("total", total)
	all := float64(max(total[same]+total[refused]+total[different], 1))
	fmt.Printf("%-32s %8s %7.1f%% %7.1f%% %8.1f%%\n", "", "",
		100*float64(total[same])/all, 100*float64(total[refused])/all, 100*float64(total[different])/all)
}
