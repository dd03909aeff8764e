package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// The findings of the cells in these tests, and their reports.
var (
	race = session.Finding{Kind: "race in a block", Name: "cell[7]", Ranks: []int{0, 1, 2, 3},
		Accesses: []session.Access{{File: "cell[1]", Line: 2, Source: "s[0]++;"}}}
	other = session.Finding{Kind: "race in a block", Name: "cell[8]", Ranks: []int{1},
		Accesses: []session.Access{{File: "cell[1]", Line: 3, Source: "s[1]++;"}}, Seed: 2}
	changed = session.Finding{Kind: "race in a block", Name: "cell[9]", Ranks: []int{1},
		Accesses: []session.Access{{File: "cell[1]", Line: 2, Source: "s[2]++;"}}}
	allowed = session.Finding{Kind: "race in a block", Name: "cell[9]", Ranks: []int{1},
		Accesses: []session.Access{{File: "cell[1]", Line: 4, Source: "x = 1; // symm:allow race"}}}
)

const (
	raceTold      = "[0-3] race in a block\n[0-3]   cell[1]:2: rank 0, the host, \n[0-3]     s[0]++;\n"
	raceAgain     = "[0-3] again: race in a block, as in cell[7], at cell[1]:2\n"
	otherTold     = "[1] race in a block\n[1]   cell[1]:3: rank 0, the host, \n[1]     s[1]++;\n[1]     the order of seed 2 shows it: --seed 2\n"
	otherAgain    = "[1] again: race in a block, as in cell[8], at cell[1]:3\n"
	changedTold   = "[1] race in a block\n[1]   cell[1]:2: rank 0, the host, \n[1]     s[2]++;\n"
	allowedTold   = "[1] race in a block, allowed by the comment at cell[1]:4\n"
	nothingIsTold = "nothing was found\n"
)

// A number before the code is the number of runs, unless it is the beginning of the code itself.
// The code may continue on further lines.
func TestRepeated(t *testing.T) {
	for arg, want := range map[string]string{
		"f()": "1 f()", "3 f()": "3 f()", " 3  f()": "3 f()", "3\nf()": "3 f()", "3": "1 3", "0 f()": "1 0 f()", "-2 f()": "1 -2 f()",
		"40+rank": "1 40+rank", "40 + rank": "1 40 + rank", "3 40 + rank": "3 40 + rank", "3 40+rank": "3 40+rank", "2 *p = 1": "2 *p = 1",
		"2 <-c": "2 <-c", "2 * p": "1 2 * p",
		"2 for range 2 {\n}": "2 for range 2 {\n}", "1e3": "1 1e3", "2 x := 1": "2 x := 1", "2 == x\nf()": "1 2 == x\nf()",
	} {
		if times, code := repeated(arg); fmt.Sprint(times, " ", code) != want {
			t.Errorf("%q runs %d times: %q, want %q", arg, times, code, want)
		}
	}
	c, _, _ := newConsole()
	for entry, more := range map[string]bool{":sanitize 2 for range 2 {": true, ":sanitize for range 2 {": true, ":sanitize 2 f()": false,
		":sanitize on": false} {
		if c.NeedsMore(entry) != more {
			t.Errorf("%q is incomplete: %v", entry, !more)
		}
	}
}

func TestSanitize(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.go")
	if err := os.WriteFile(script, []byte("// %%\nwrong\n// %%\nwrong\n// %%\n:sanitize on\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		entries []string
		cells   []string
		out     string
		outcome console.Outcome
		wrong   bool
	}{
		{"state", []string{":sanitize"}, nil, "the sanitizer is off; nothing was found\n", console.Done, false},
		{"off at first", []string{":sanitize off", "1"}, []string{"off", "1"}, "", console.Done, false},
		{"on and off", []string{":sanitize on", "wrong", "wrong", ":sanitize", ":sanitize off", "1", ":sanitize"},
			[]string{"on 0", "wrong", "wrong", "off", "1"},
			raceTold + raceAgain + "the sanitizer is on; 1 finding\nthe sanitizer is off; 1 finding\n", console.Done, true},
		{"by a cell", []string{"switches on", ":sanitize", "wrong", ":sanitize 1", ":sanitize", "switches off", ":sanitize"},
			[]string{"switches on", "wrong", "on 7", "1", "on 7", "switches off"},
			"the sanitizer is on; nothing was found\n" + raceTold + nothingIsTold +
				"the sanitizer is on; 1 finding\nthe sanitizer is off; 1 finding\n", console.Done, true},
		{"one cell", []string{":sanitize 1"}, []string{"on 0", "1", "off"}, nothingIsTold, console.Done, false},
		{"one cell again", []string{":sanitize wrong", ":sanitize wrong", ":sanitize 1", ":sanitize wrong"},
			[]string{"on 0", "wrong", "off", "on 0", "wrong", "off", "on 0", "1", "off", "on 0", "wrong", "off"},
			raceTold + raceAgain + nothingIsTold + raceAgain, console.Done, true},
		{"orders", []string{":sanitize 3 in order 2"}, []string{"on 0", "in order 2", "on 1", "in order 2", "on 2", "in order 2", "off"},
			"printed\n" + otherTold, console.Done, true},
		{"orders again", []string{":sanitize 3 wrong", ":sanitize 2 wrong", ":sanitize 3 in order 2", ":sanitize 4 in order 2"}, nil,
			raceTold + raceAgain + "printed\n" + otherTold + "printed\n" + otherAgain, console.Done, true},
		{"a line that was changed", []string{":sanitize wrong", ":sanitize changed", ":sanitize wrong"}, nil,
			raceTold + changedTold + raceAgain, console.Done, true},
		{"allowed", []string{":sanitize allowed", ":sanitize allowed"}, nil, allowedTold + allowedTold, console.Done, false},
		{"a file", []string{":load " + script, ":load " + script}, []string{"wrong", "wrong", "on 0", "1", "wrong", "wrong", "on 0", "1"},
			raceTold + raceAgain, console.Done, true},
		{"list", []string{":sanitize list", ":sanitize 3 in order 2", ":sanitize wrong", ":sanitize  list "}, nil,
			nothingIsTold + "printed\n" + otherTold + raceTold + otherTold + raceTold, console.Done, true},
		{"refused", []string{":sanitize on", "1"}, []string{"on 0", "1"}, ":sanitize: on the cpu device only\n", console.Done, false},
		{"not all ranks", []string{":on 0", ":sanitize on", "wrong"}, []string{"on 0", "wrong"}, raceTold, console.Done, true},
		{"not all is watched", []string{":sanitize off", ":sanitize 1", ":sanitize on", ":sanitize on"},
			[]string{"off", "on 0", "1", "off", "on 0", "on 0"},
			"bounds only\n" + nothingIsTold, console.Done, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			con, fake, out := newConsole()
			if c.name == "not all is watched" {
				con.Unwatched = "bounds only"
			}
			fake.OnEval = func(cell session.Cell) (r session.Reply) {
				r.Cell = cell.ID
				switch cell.Source {
				case "":
					if !cell.Silent || cell.Ranks != nil {
						t.Errorf("%+v", cell)
					}
					if c.name == "refused" {
						r.Errors = []*session.Error{{Msg: "on the cpu device only"}}
					}
				case "switches on":
					fake.Watches = session.Sanitizing{On: true, Seed: 7}
				case "switches off":
					fake.Watches = session.Sanitizing{}
				case "wrong":
					r.Findings = []session.Finding{race}
				case "changed":
					r.Findings = []session.Finding{changed}
				case "allowed":
					var found session.Findings // Add fills in the comment
					found.Add(allowed)
					r.Findings = found.List()
				case "in order 2":
					cell.Output(session.Output{Stream: session.Stdout, Ranks: []int{0, 1, 2, 3}, Text: "printed\n"})
					if fake.Watches.Seed == 2 {
						r.Findings = []session.Finding{other}
					}
				}
				return r
			}
			var outcome console.Outcome
			for _, entry := range c.entries {
				outcome = con.Run(context.Background(), entry)
			}
			var cells []string
			for _, cell := range fake.Cells {
				switch s := cell.Sanitize; {
				case s == nil:
					cells = append(cells, cell.Source)
				case s.On:
					cells = append(cells, fmt.Sprint("on ", s.Seed))
				default:
					cells = append(cells, "off")
				}
			}
			printed := strings.ReplaceAll(out.String(), "[0-3] printed", "printed")
			if c.cells != nil && !slices.Equal(cells, c.cells) || printed != c.out || outcome != c.outcome || con.Wrong() != c.wrong {
				t.Errorf("%v, wrong %v, evaluated\n%q\nwant\n%q\nprinted\n%s\nwant\n%s", outcome, con.Wrong(), cells, c.cells, printed,
					c.out)
			}
		})
	}
}

// All orders belong to one cell. Reports name it by the number of its first run.
func TestSanitizeNumbersCells(t *testing.T) {
	con, fake, _ := newConsole()
	fake.OnEval = func(cell session.Cell) session.Reply { return session.Reply{Cell: cell.ID} }
	con.Run(context.Background(), "x")
	con.Run(context.Background(), ":sanitize 3 y")
	var got []string
	for _, cell := range fake.Cells {
		if cell.Sanitize == nil {
			got = append(got, fmt.Sprint(cell.Source, " ", cell.ID, " ", cell.Silent))
		}
	}
	if want := []string{"x 1 false", "y 3 false", "y 3 true", "y 3 true"}; !slices.Equal(got, want) {
		t.Errorf("evaluated %q, want %q", got, want)
	}
}

// A list for other programs has all findings in full.
func TestSanitizeListAsJSON(t *testing.T) {
	con, fake, out := newConsole()
	list := func() (list struct{ Findings []session.Finding }) {
		out.Reset()
		con.Run(context.Background(), ":sanitize list --json")
		if err := json.Unmarshal(out.Bytes(), &list); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return list
	}
	if found := list().Findings; found == nil || len(found) != 0 {
		t.Errorf("the first list is %v, want an empty one", found)
	}
	fake.OnEval = func(session.Cell) session.Reply { return session.Reply{Findings: []session.Finding{race}} }
	con.Run(context.Background(), "wrong")
	con.Run(context.Background(), "wrong")
	if found := list().Findings; len(found) != 1 || found[0].Kind != race.Kind || found[0].Accesses[0].Source != "s[0]++;" {
		t.Errorf("%v, want the race", found)
	}
}
