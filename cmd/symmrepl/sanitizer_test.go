package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// pair is a cell that is right, and the same with one thing left out or added. Files of testdata/sanitizer have many:
//
//	== NAME: KIND [| KIND]... [, held out]     what the sanitizer calls the mistake
//	# what it is about
//	code // right                              is in the right one only
//	code // wrong, access 1                    is in the wrong one only; a finding names this line for one of its accesses,
//	code // access 2                           and this for the other
//
// Lines that a variant lacks are empty there. The pairs that are held out were not looked at while the sanitizer was made.
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
			lines = slices.DeleteFunc(lines[1:], func(line string) bool { return strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#include") })
			pairs = append(pairs, pair{file, m[1], strings.Split(m[2], " | "), m[3] != "", lines})
		}
	}
	return pairs
}

var lineMark = regexp.MustCompile(`\s*// ((?:right|wrong|access 1|access 2)(?:, (?:right|wrong|access 1|access 2))*)$`)

// cell is one variant's text, and the lines that a finding of the wrong one names.
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

const pairNames = "rank, size := symm.Rank(), symm.WorldSize()\nright, left := (rank+1)%size, (rank+size-1)%size"

// The right variants run, and are right.
func TestSanitizerCorpus(t *testing.T) {
	for _, group := range []struct{ pattern, hosts string }{{"[^n]*.txt", ""}, {"network.txt", "2"}} {
		t.Run(group.pattern, func(t *testing.T) {
			const ranks = 4
			hosts, err := session.ParseHosts(group.hosts, ranks)
			if err != nil {
				t.Fatal(err)
			}
			if group.hosts != "" {
				t.Setenv("SYMMREPL_NET", "null reorder=on seed=7")
			}
			s := launchOn(t, ranks, hosts)
			evaluate := func(name, source string) session.Reply {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				return s.Eval(ctx, session.Cell{Name: name, Line: 1, Source: source, Output: func(session.Output) {}})
			}
			evaluate("names", pairNames)
			for _, p := range readPairs(t, filepath.Join("testdata/sanitizer", group.pattern)) {
				for _, variant := range []string{"right", "wrong"} {
					source, _ := p.cell(variant)
					reply := evaluate("pair", source)
					t.Logf("%s %s %.2fs", p.name, variant, reply.Elapsed)
					for _, e := range reply.Errors {
						if variant == "right" {
							t.Errorf("%s: %s: %v: %v\n%s", p.file, p.name, e.Ranks, e, e.Detail)
						} else {
							t.Logf("%v: %v", e.Ranks, e)
						}
					}
					if len(reply.Errors) > 0 {
						evaluate("recover", "symm.Recover()")
						evaluate("names", pairNames)
					}
				}
			}
		})
	}
}
