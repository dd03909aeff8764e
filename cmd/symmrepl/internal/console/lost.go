package console

import (
	"context"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/session"
)

// explainLost adds a hint to errors about undefined names that were lost when workers were
// replaced.
func (c *Console) explainLost(ctx context.Context, errs []*session.Error) {
	for _, e := range errs {
		name, ok := strings.CutPrefix(e.Msg, "undefined: ")
		if !ok {
			continue
		}
		if in, restarted, ok := c.lostIn(ctx, name, e.Ranks); ok {
			who := "rank " + session.FormatRanks(e.Ranks) + " was"
			if len(e.Ranks) > 1 {
				who = "ranks " + session.FormatRanks(e.Ranks) + " were"
			}
			how := "replaced in"
			if restarted {
				how = "restarted after"
			}
			e.Hint = fmt.Sprintf("%s %s %s, which lost %s there: `:restart replay` runs the cells again on all ranks",
				who, how, in.Title(), name)
			if in.Ended {
				e.Hint = fmt.Sprintf("%s restarted after %s, which lost %s there: enter the cell again that defines it", who,
					in.Title(), name)
			}
		}
	}
}

// lostIn returns the last cell in or after which the workers of all these ranks were replaced, and
// whether by Restart. ok is false if no cell up to that one contains name.
func (c *Console) lostIn(ctx context.Context, name string, ranks []int) (in session.Cell, restarted, ok bool) {
	infos, err := c.Session.Ranks(ctx)
	if err != nil {
		return in, false, false
	}
	last := 0
	for _, r := range ranks {
		i := slices.IndexFunc(infos, func(info session.RankInfo) bool { return info.Rank == r })
		if i < 0 || infos[i].Replaced == 0 {
			return in, false, false
		}
		if infos[i].Replaced >= last {
			last, restarted = infos[i].Replaced, infos[i].Restarted
		}
	}
	cells, err := c.Session.History(ctx)
	if err != nil {
		return in, false, false
	}
	in.ID = last
	named := false
	for _, cell := range cells {
		named = named || cell.ID <= last && names(cell.Source, name)
		if cell.ID == last {
			in = cell
		}
	}
	return in, restarted, named
}

// names reports whether name is a word of Go source, outside literals and comments.
func names(source, name string) bool {
	for t := range gotokens.All(source) {
		if t.Kind == token.IDENT && t.Text == name {
			return true
		}
	}
	return false
}
