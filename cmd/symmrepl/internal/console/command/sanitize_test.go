package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

func TestSanitize(t *testing.T) {
	race := session.Finding{Kind: "race in a block", Ranks: []int{0, 1, 2, 3}, Accesses: []session.Access{{File: "cell[1]", Line: 2, Source: "s[0]++;"}}}
	another := session.Finding{Kind: "race in a block", Ranks: []int{1}, Accesses: []session.Access{{File: "cell[1]", Line: 3, Source: "s[1]++;"}}, Seed: 2}
	for _, c := range []struct {
		name    string
		entries []string
		cells   []string
		out     string
		outcome console.Outcome
		wrong   bool
	}{
		{"state", []string{":sanitize"}, nil, "the sanitizer is off; nothing was found\n", console.Done, false},
		{"off at first", []string{":sanitize off", "1"}, []string{"1"}, "", console.Done, false},
		{"on and off", []string{":sanitize on", "wrong", "wrong", ":sanitize", ":sanitize off", "1"},
			[]string{"symm.Sanitize(true, 0)", "symm.Sanitize(true, 0)", "wrong", "symm.Sanitize(true, 0)", "wrong", "symm.Sanitize(false, 0)", "1"},
			"[0-3] race in a block\n[0-3]   cell[1]:2: rank 0, the host, \n[0-3]     s[0]++;\nthe sanitizer is on; 1 finding\n", console.Done, true},
		{"one cell", []string{":sanitize 1"}, []string{"symm.Sanitize(true, 0)", "symm.Sanitize(true, 0)", "1", "symm.Sanitize(false, 0)"}, "nothing was found\n", console.Done, false},
		{"orders", []string{":sanitize 3 in order 2"},
			[]string{
				"symm.Sanitize(true, 0)", "symm.Sanitize(true, 0)", "in order 2", "symm.Sanitize(true, 1)", "symm.Sanitize(true, 1)", "in order 2",
				"symm.Sanitize(true, 2)", "symm.Sanitize(true, 2)", "in order 2", "symm.Sanitize(false, 0)",
			},
			"printed\n[1] race in a block\n[1]   cell[1]:3: rank 0, the host, \n[1]     s[1]++;\n[1]     the order of seed 2 shows it: --seed 2\n", console.Done, true},
		{"refused", []string{":sanitize on", "1"}, []string{"symm.Sanitize(true, 0)", "1"}, ":sanitize: on the cpu device only\n", console.Done, false},
		{"not all ranks", []string{":on 0", ":sanitize on", "wrong"}, []string{"symm.Sanitize(true, 0)", "wrong"},
			"[0-3] race in a block\n[0-3]   cell[1]:2: rank 0, the host, \n[0-3]     s[0]++;\n", console.Done, true},
		{"not all is watched", []string{":sanitize off", ":sanitize 1", ":sanitize on", ":sanitize on"},
			[]string{"symm.Sanitize(true, 0)", "symm.Sanitize(true, 0)", "1", "symm.Sanitize(false, 0)", "symm.Sanitize(true, 0)", "symm.Sanitize(true, 0)"},
			"bounds only\nnothing was found\n", console.Done, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			con, fake, out := newConsole()
			if c.name == "not all is watched" {
				con.Unwatched = "bounds only"
			}
			seed := 0
			fake.OnEval = func(cell session.Cell) (r session.Reply) {
				switch {
				case strings.HasPrefix(cell.Source, "symm.Sanitize"):
					fmt.Sscanf(cell.Source, "symm.Sanitize(true, %d)", &seed)
					if !cell.Silent || cell.Ranks != nil {
						t.Errorf("%+v", cell)
					}
					if c.name == "refused" {
						r.Errors = []*session.Error{{Msg: "on the cpu device only"}}
					}
				case cell.Source == "wrong":
					r.Findings = []session.Finding{race}
				case cell.Source == "in order 2":
					cell.Output(session.Output{Stream: session.Stdout, Ranks: []int{0, 1, 2, 3}, Text: "printed\n"})
					if seed == 2 {
						r.Findings = []session.Finding{another}
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
				cells = append(cells, cell.Source)
			}
			printed := strings.ReplaceAll(out.String(), "[0-3] printed", "printed")
			if !slices.Equal(cells, c.cells) || printed != c.out || outcome != c.outcome || con.Wrong() != c.wrong {
				t.Errorf("%v, wrong %v, evaluated\n%q\nwant\n%q\nprinted\n%s\nwant\n%s", outcome, con.Wrong(), cells, c.cells, printed, c.out)
			}
		})
	}
}
