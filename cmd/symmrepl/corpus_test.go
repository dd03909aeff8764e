package main

import (
	"bufio"
	"encoding/json"
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
)

// The corpus of public bugs is a folder of kernels at the top with a page about it. Each bug is a pair of
// cases: NAME_wrong, which fails as in the report, and NAME_right. A bug that the sanitizer does not find has
// NAME_missed in place of NAME_wrong.
const (
	corpusFolder = "../../corpus"
	corpusPage   = "../../docs/corpus.md"
)

var corpusOrders = flag.Int("corpus", 0, "number of orders in which all cases of the corpus of public bugs run, on 2 and 4 ranks")

// bug is a pair of cases of the corpus.
type bug struct {
	file  string
	fails string // "_wrong" or "_missed"
	says  string // what the wrong case expects, in the words of the page
	some  bool   // only some orders show it
}

var (
	caseHead   = regexp.MustCompile(`^// symm: test (\w+?)_(wrong|missed|right)$`)
	caseWants  = regexp.MustCompile(`^// expect (finding|error) (.+)$`)
	familyHead = regexp.MustCompile(`^## .*\[corpus/(\w+\.cu)\]`)
	bugRow     = regexp.MustCompile(`^\| (\w+) \| (.*) \| (.*) \| (.*) \| (any|some|none) \|$`)
	reportLink = regexp.MustCompile(`https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+`)
)

// readBugs returns the bugs of the files, and the links of each file.
func readBugs(t *testing.T) (bugs map[string]bug, links map[string][]string) {
	files, err := filepath.Glob(corpusFolder + "/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the corpus: %v", err)
	}
	bugs, links = map[string]bug{}, map[string][]string{}
	rights := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(file)
		links[base] = reportLink.FindAllString(string(text), -1)
		var name string
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if m := caseHead.FindStringSubmatch(line); m != nil {
				name = m[1]
				if m[2] == "right" {
					rights[name], name = true, ""
					continue
				}
				if _, twice := bugs[name]; twice {
					t.Errorf("%s: there are two bugs %s", base, name)
				}
				bugs[name] = bug{file: base, fails: "_" + m[2]}
			} else if strings.Contains(line, "symm: test") {
				t.Errorf("%s: a name ends with _wrong, _missed or _right: %s", base, line)
			}
			if m := caseWants.FindStringSubmatch(line); m != nil && name != "" {
				b := bugs[name]
				says := m[2]
				if m[1] == "error" {
					says = "error: " + says
				}
				b.says = strings.TrimPrefix(b.says+", "+says, ", ")
				bugs[name] = b
			}
		}
	}
	for name := range bugs {
		if !rights[name] {
			t.Errorf("%s has no right case", name)
		}
		delete(rights, name)
	}
	for name := range rights {
		t.Errorf("%s has a right case only", name)
	}
	return bugs, links
}

// TestCorpusPage: each bug has its row, which says what the files say, and each row has its bug.
func TestCorpusPage(t *testing.T) { readCorpus(t) }

// readCorpus returns the bugs with what the page says about their orders.
func readCorpus(t *testing.T) map[string]bug {
	bugs, links := readBugs(t)
	page, err := os.Open(corpusPage)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	var file string
	rows := map[string]bool{}
	told := map[string][]string{}
	lines := bufio.NewScanner(page)
	for lines.Scan() {
		if m := familyHead.FindStringSubmatch(lines.Text()); m != nil {
			file = m[1]
		}
		m := bugRow.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name, says, orders := m[1], m[4], m[5]
		b, known := bugs[name]
		switch {
		case !known || b.file != file:
			t.Errorf("the page has %s in %s, which is not there", name, file)
		case rows[name]:
			t.Errorf("the page has %s twice", name)
		case b.says == "" && (says != "nothing" || orders != "none"), b.says != "" && says != b.says:
			t.Errorf("%s: the page says %q, %s, the file %q", name, says, orders, b.says)
		}
		rows[name] = true
		b.some = orders == "some"
		bugs[name] = b
		found := reportLink.FindAllString(m[2], -1)
		if len(found) == 0 {
			t.Errorf("%s: the page has no link to a report", name)
		}
		told[file] = append(told[file], found...)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for name := range bugs {
		if !rows[name] {
			t.Errorf("%s is not in the page", name)
		}
	}
	for file, list := range links {
		slices.Sort(list)
		slices.Sort(told[file])
		if want, got := slices.Compact(list), slices.Compact(told[file]); !slices.Equal(want, got) {
			t.Errorf("%s has the links %q, the page %q", file, want, got)
		}
	}
	return bugs
}

// TestCorpus: each wrong kernel of the corpus is found, at once or in 20 orders as the page says, and nothing
// is found in the right ones.
func TestCorpus(t *testing.T) {
	if device() != "cpu" {
		t.Skip("the sanitizer needs the cpu device")
	}
	if testing.Short() {
		t.Skip("short: compiles kernels for the sanitizer")
	}
	bugs := readCorpus(t)
	h := newHome(t, 2)
	h.cwd = corpusFolder
	fails := checkCorpus(t, h, "-n", "2", ".")
	for name, why := range checkCorpus(t, h, "-n", "2", "--schedules", "5", "--only", "_right", ".") {
		t.Errorf("in 5 orders: %s: %s", name, why)
	}
	for _, name := range slices.Sorted(maps.Keys(bugs)) {
		b := bugs[name]
		if fails[name+"_right"] != "" {
			t.Errorf("%s_right: %s", name, fails[name+"_right"])
		}
		if fails[name+b.fails] != "" && b.some {
			delete(fails, name+b.fails)
			for _, why := range checkCorpus(t, h, "-n", "2", "--schedules", "20", "--only", name+b.fails, b.file) {
				t.Errorf("in 20 orders: %s%s: %s", name, b.fails, why)
			}
		} else if fails[name+b.fails] != "" {
			t.Errorf("in the first order: %s%s: %s", name, b.fails, fails[name+b.fails])
		}
	}
	if *corpusOrders > 0 {
		for name, why := range checkCorpus(t, h, "-n", "2,4", "--schedules", fmt.Sprint(*corpusOrders), "--timeout", "10m", ".") {
			t.Errorf("in %d orders: %s: %s", *corpusOrders, name, why)
		}
	}
}

// checkCorpus runs symmrepl check in the corpus and returns the cases that failed.
func checkCorpus(t *testing.T, h home, args ...string) (fails map[string]string) {
	limit := patience()
	if *corpusOrders > 0 {
		limit = 2 * time.Hour
	}
	got := h.runWithin(limit, "", append([]string{"check", "--device", "cpu", "--json"}, args...)...)
	fails = map[string]string{}
	ran := 0
	for line := range strings.Lines(got.out) {
		var r struct{ Case, Status string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if r.Case == "" {
			continue
		}
		ran++
		if r.Status != "passed" {
			fails[r.Case] = strings.TrimSpace(line)
		}
	}
	if ran == 0 {
		t.Fatalf("no case ran: status %d\n%s", got.status, got.err)
	}
	return fails
}
