//go:build !race

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updatePages = flag.Bool("update-pages", false, "write the outputs of the sessions in the pages of docs again")

// notReplayed is the comment ahead of a block of a page whose cells TestPages does not run. The reason
// follows.
const notReplayed = "<!-- not replayed"

// TestPages runs the cells that pages of docs show, each page as one session, and compares what they
// show, except for times. With -update-pages it writes that into the pages.
func TestPages(t *testing.T) {
	if device() != "cpu" {
		t.Skip("the pages show the cpu device")
	}
	for _, c := range []struct {
		page  string
		ranks int
		args  []string
		files map[string]string // that lie in the folder of the session
	}{
		{"arithmetic.md", 1, nil, nil},
		{"hosts.md", 4, []string{"--hosts", "2", "--net", "null"}, nil},
		{"export.md", 4, nil, nil},
		{"timeline.md", 4, nil, nil},
		{"fsdp.md", 4, nil, nil},
		{"kraken.md", 4, nil, nil},
		{"amd.md", 1, nil, nil},
		{"../README.md", 4, nil, nil},
		{"../cmd/symmrepl/internal/console/command/examples.md", 4, nil, nil},
		{"files.md", 4, nil, map[string]string{"names.npy": textArray}},
	} {
		t.Run(filepath.Base(c.page), func(t *testing.T) {
			t.Parallel()
			path := "../../docs/" + c.page
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			h := newHome(t, c.ranks)
			cmd := h.command(append([]string{"-n", fmt.Sprint(c.ranks), "--device", "cpu"}, c.args...)...)
			cmd.Dir = t.TempDir() // for the files that cells write
			for name, data := range c.files {
				if err := os.WriteFile(filepath.Join(cmd.Dir, name), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			page := readPage(string(text))
			cmd.Stdin = strings.NewReader(page.input())
			out, _ := cmd.CombinedOutput() // the last cells of a page may fail on purpose
			got := page.with(strings.Split(string(out), shownMark+"\n"))
			if pageTimes(got) == pageTimes(string(text)) {
				return
			}
			if *updatePages {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("docs/%s is not what the program shows now; write it again by: go test ./cmd/symmrepl -run TestPages -update-pages\n%s",
				c.page, firstDifference(pageTimes(got), pageTimes(string(text))))
		})
	}
}

// textArray is a file of numpy.save(path, ["Alice"]).
const textArray = "\x93NUMPY\x01\x00\x3a\x00{'descr': '<U5', 'fortran_order': False, 'shape': (1,), } \n" +
	"A\x00\x00\x00l\x00\x00\x00i\x00\x00\x00c\x00\x00\x00e\x00\x00\x00"

// shownMark is the line that a shell prints behind each entry.
const shownMark = "-- shown --"

// replayed is a page in pieces: text that stays, and entries, each followed by what it shows.
type replayed []struct {
	text   string // with its indentation
	entry  string // what is typed, if text is an entry
	indent string // of an entry
}

var prompted = regexp.MustCompile(`^( *)symm> (.*)$`)

// readPage finds the entries of a page: lines behind a prompt, with the lines that continue them.
func readPage(text string) (page replayed) {
	add := func(text, entry, indent string) {
		page = append(page, struct{ text, entry, indent string }{text, entry, indent})
	}
	lines := strings.SplitAfter(text, "\n")
	skipping, fenced := false, false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		block := fenced || strings.HasPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			if fenced = !fenced; !fenced {
				skipping = false
			}
		case strings.HasPrefix(line, notReplayed):
			skipping = true
		case !block && strings.TrimSpace(line) != "":
			skipping = false
		}
		m := prompted.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil || !block || skipping {
			add(line, "", "")
			continue
		}
		entry, indent := m[2], m[1]
		for i+1 < len(lines) {
			more, continued := strings.CutPrefix(strings.TrimLeft(lines[i+1], " "), "... ")
			if !continued {
				break
			}
			entry += "\n" + strings.TrimSuffix(more, "\n")
			line += lines[i+1]
			i++
		}
		add(line, entry, indent)
		for i+1 < len(lines) && shows(lines[i+1], indent, fenced) { // what is shown comes anew
			i++
		}
	}
	return page
}

// shows reports whether a line of a block is output: no entry, no shell line, and not the block's end.
func shows(line, indent string, fenced bool) bool {
	rest, within := strings.CutPrefix(line, indent)
	return within && !strings.HasPrefix(rest, "symm> ") && !strings.HasPrefix(rest, "$ ") && !strings.HasPrefix(line, "```") &&
		(fenced || strings.TrimSpace(line) != "")
}

// input returns the entries, with a mark behind each.
func (p replayed) input() string {
	var b strings.Builder
	for _, piece := range p {
		if piece.entry != "" {
			b.WriteString(piece.entry + "\n$ echo '" + shownMark + "'\n")
		}
	}
	return b.String()
}

// with returns the page with what its entries have shown.
func (p replayed) with(shown []string) string {
	var b strings.Builder
	n := 0
	for _, piece := range p {
		b.WriteString(piece.text)
		if piece.entry == "" || n >= len(shown) {
			continue
		}
		for line := range strings.Lines(shown[n]) {
			b.WriteString(strings.TrimRight(piece.indent+line, " \n") + "\n")
		}
		n++
	}
	return b.String()
}

var measuredTime = regexp.MustCompile(` *\d+(\.\d+)?( ?)(ns|µs|ms|s)\b`)

// pageTimes returns the text without the times that cells have measured.
func pageTimes(text string) string { return measuredTime.ReplaceAllString(text, " 1s") }

// firstDifference returns the first lines in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return "it shows\n\t" + strings.Join(a[i:min(i+8, len(a))], "\n\t") + "\nand the page has\n\t" +
				strings.Join(b[min(i, len(b)):min(i+8, len(b))], "\n\t")
		}
	}
	return "the page goes on behind what it shows"
}
