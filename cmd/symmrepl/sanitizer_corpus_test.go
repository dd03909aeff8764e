package main

import (
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

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/render"
	"github.com/symmrepl/symmrepl/session"
)

// pair is a cell in two variants: right, and wrong because one thing was left out or added. Each
// file of testdata/sanitizer has many pairs; the files of its folder hosts are for ranks on two
// hosts:
//
//	== NAME: KIND [| KIND]... [, held out]     the kinds of finding that fit the mistake
//	# a remark about the pair
//	code // right                              a line of the right variant only
//	code // wrong, access 1                    a line of the wrong variant only; a finding must name it for one access,
//	code // access 2                           and this line for the other
//
// A line that belongs to the other variant only is left empty. The held-out pairs were first run
// when the sanitizer was finished.
type pair struct {
	file, name string
	kinds      []string
	heldOut    bool
	lines      []string
}

var pairHead = regexp.MustCompile(`^(.+?): ([a-z |]+?)(, held out)?$`)

// readPairs returns the pairs of the files that match a pattern.
func readPairs(t *testing.T, pattern string) (pairs []pair) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut("\n"+string(text), "\n== ")
		for _, block := range strings.Split(body, "\n== ") {
			lines := strings.Split(block, "\n")
			m := pairHead.FindStringSubmatch(lines[0])
			if m == nil {
				t.Fatalf("%s: %q is no head of a pair", file, lines[0])
			}
			lines = slices.DeleteFunc(lines[1:], func(line string) bool {
				return strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#include")
			})
			pairs = append(pairs, pair{file, m[1], strings.Split(m[2], " | "), m[3] != "", lines})
		}
	}
	return pairs
}

var lineMark = regexp.MustCompile(`\s*// ((?:right|wrong|access 1|access 2)(?:, (?:right|wrong|access 1|access 2))*)$`)

// cell returns the text of one variant, and the lines that a finding in the wrong variant must
// name.
func (p pair) cell(variant string) (source string, accesses [2][]int) {
	other := map[string]string{"right": "wrong", "wrong": "right"}[variant]
	var b strings.Builder
	for i, line := range p.lines {
		m := lineMark.FindStringSubmatchIndex(line)
		if m != nil {
			marks := strings.Split(line[m[2]:m[3]], ", ")
			line = line[:m[0]]
			if slices.Contains(marks, other) {
				line, marks = "", nil
			}
			for k := range accesses {
				if slices.Contains(marks, fmt.Sprint("access ", k+1)) {
					accesses[k] = append(accesses[k], i+1)
				}
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String(), accesses
}

// names declares the variables that the cells of pairs use.
const names = "rank, size := symm.Rank(), symm.WorldSize()\nright, left := (rank+1)%size, (rank+size-1)%size\n_, _ = right, left"

// orders is the number of orders in which a mistake must be found at least once.
const orders = 20

var corpusRuns = flag.Int("runs", 1, "number of orders in which to evaluate each right cell of the sanitizer's corpus")

var heldOutPairs = flag.Bool("heldout", false, "evaluate also the held-out part of the sanitizer's corpus")

// The sanitizer finds the mistake in each wrong cell, and nothing in the right cells.
func TestSanitizerCorpus(t *testing.T) { testPairs(t, false) }

// TestSanitizerHeldOut evaluates cells that were not looked at while the sanitizer was written. Their
// mistakes are of the same kinds as those of TestSanitizerCorpus.
func TestSanitizerHeldOut(t *testing.T) {
	if !*heldOutPairs {
		t.Skip("give -heldout; make test-long does")
	}
	testPairs(t, true)
}

func testPairs(t *testing.T, heldOut bool) {
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	if testing.Short() {
		t.Skip("short: evaluates the whole corpus")
	}
	const ranks = 4
	keepBusy(t, *busyProcesses)
	for _, group := range []struct{ name, files, hosts, network string }{
		{"one host", "testdata/sanitizer/*.txt", "", ""},
		{"two hosts", "testdata/sanitizer/hosts/*.txt", "2", "null reorder=on seed=7"},
	} {
		t.Run(group.name, func(t *testing.T) {
			hosts, err := session.ParseHosts(group.hosts, ranks)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("SYMMREPL_NET", group.network)
			files := map[string][]pair{}
			for _, p := range readPairs(t, group.files) {
				if p.heldOut == heldOut {
					name := strings.TrimSuffix(filepath.Base(p.file), ".txt")
					files[name] = append(files[name], p)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				t.Run(name, func(t *testing.T) {
					t.Parallel() // a wrong cell may only wait
					w := &watchedSession{t: t, Session: launchOn(t, ranks, hosts)}
					w.evaluate("names", names)
					if reply := w.evaluate("sanitize", "symm.Sanitize(true, 0)"); len(reply.Errors) > 0 {
						if strings.Contains(reply.Errors[0].Msg, "kernels that are watched need") {
							t.Skip(reply.Errors[0]) // the compiler is too old
						}
						t.Fatal(reply.Errors[0])
					}
					for _, p := range files[name] {
						t.Run(p.name, func(t *testing.T) {
							w.t = t
							w.right(p)
							w.wrong(p)
						})
					}
				})
			}
		})
	}
}

// TestSanitizerCells: a new cell orders a rank after all accesses of earlier cells. A rank that
// comes late to a cell is not ordered after the other ranks' accesses in that same cell, even if
// they have finished it.
func TestSanitizerCells(t *testing.T) {
	t.Parallel()
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	if testing.Short() {
		t.Skip("short: compiles kernels for the sanitizer")
	}
	w := &watchedSession{t: t, Session: launchOn(t, 2, session.Hosts{})}
	w.evaluate("sanitize", "symm.Sanitize(true, 0)")
	if reply := w.evaluate("begin", `import "time"
t := symm.Empty(symm.F32, 8).Fill(5)
h := symm.Rendezvous(t)
q := symm.Compile("__global__ void put(symm::Handle h) { h.buffer<float>(1 - h.rank)[threadIdx.x] = h.rank; }")`); len(reply.Errors) > 0 {
		t.Fatal(reply.Errors[0])
	}
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"read, then written by a peer",
			"if symm.Rank() == 0 { t.Float32s() } else { time.Sleep(300 * time.Millisecond); q.Launch(symm.Grid(1), symm.Block(8), h) }", 1},
		{"written by a peer, then read",
			"if symm.Rank() == 1 { q.Launch(symm.Grid(1), symm.Block(8), h) } else { time.Sleep(300 * time.Millisecond); t.Float32s() }", 1},
		{"in the next cell", "t.Float32s()", 0},
		{"by both", "q.Launch(symm.Grid(1), symm.Block(8), h)", 0},
		{"in the next cell again", "t.Float32s()", 0},
	} {
		reply := w.evaluate("cell", c.text)
		if len(reply.Errors) > 0 {
			t.Fatal(reply.Errors[0])
		}
		if len(reply.Findings) != c.want {
			t.Errorf("%s: %d findings, want %d", c.name, len(reply.Findings), c.want)
		}
		for _, f := range reply.Findings {
			if f.Kind != "race with the host" {
				t.Errorf("%s: %s", c.name, reported(f))
			}
		}
	}
}

// watchedSession is a session with the sanitizer on.
type watchedSession struct {
	session.Session
	t *testing.T
}

func (w *watchedSession) evaluate(name, source string) session.Reply {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience())
	defer cancel()
	return w.Eval(ctx, session.Cell{Name: name, Line: 1, Source: source})
}

// inOrder evaluates a cell in the order that a seed chooses.
func (w *watchedSession) inOrder(seed int, source string) session.Reply {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience())
	defer cancel()
	reply := w.Eval(ctx, session.Cell{Name: "pair", Line: 1, Source: source, Sanitize: &session.Sanitizing{On: true, Seed: int64(seed)}})
	if len(reply.Errors) > 0 {
		w.evaluate("recover", "symm.Recover()")
		w.evaluate("names", names) // defined again in case a worker was replaced
	}
	return reply
}

// right evaluates the right cell in several orders and expects no finding.
func (w *watchedSession) right(p pair) {
	w.t.Helper()
	source, _ := p.cell("right")
	for seed := range *corpusRuns {
		reply := w.inOrder(seed, source)
		for _, e := range reply.Errors {
			w.t.Errorf("the right cell fails on %v in order %d: %v\n%s", e.Ranks, seed, e, e.Detail)
		}
		for _, f := range reply.Findings {
			w.t.Errorf("the sanitizer reports in the right cell:\n%s", reported(f))
		}
		if w.t.Failed() {
			return
		}
	}
}

// wrong evaluates the wrong cell in several orders until the sanitizer finds the mistake.
func (w *watchedSession) wrong(p pair) {
	w.t.Helper()
	source, accesses := p.cell("wrong")
	var others session.Findings
	for seed := range orders {
		reply := w.inOrder(seed, source)
		for _, f := range reply.Findings {
			if slices.Contains(p.kinds, f.Kind) && namesLines(f, accesses) {
				if seed > 0 {
					w.t.Logf("found in order %d", seed)
				}
				return
			}
			others.Add(f)
		}
	}
	text := ""
	for _, f := range others.List() {
		text += "\n" + reported(f)
	}
	w.t.Errorf("the sanitizer does not find %v at the lines %v in %d orders, but%s", p.kinds, accesses, orders, text)
}

// namesLines reports whether a finding has one access at a line of each non-empty list, and no
// other accesses.
func namesLines(f session.Finding, lists [2][]int) bool {
	at := func(a session.Access, lines []int) bool {
		return slices.ContainsFunc(lines, func(line int) bool {
			return a.Place() == fmt.Sprint("pair:", line) || strings.HasPrefix(a.Place(), fmt.Sprintf("pair:%d:", line))
		})
	}
	if len(lists[1]) == 0 {
		return len(f.Accesses) > 0 && !slices.ContainsFunc(f.Accesses, func(a session.Access) bool { return !at(a, lists[0]) })
	}
	if len(f.Accesses) != 2 {
		return false
	}
	a, b := f.Accesses[0], f.Accesses[1]
	return at(a, lists[0]) && at(b, lists[1]) || at(b, lists[0]) && at(a, lists[1])
}

// reported returns the finding as the user sees it.
func reported(f session.Finding) string {
	var b strings.Builder
	render.New(&b, &b, 4, false).Finding(f)
	return b.String()
}
