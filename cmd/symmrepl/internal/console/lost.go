package console

import (
	"context"
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

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
		if in, ok := c.lostIn(ctx, name, e.Ranks); ok {
			who := "rank " + session.FormatRanks(e.Ranks) + " was"
			if len(e.Ranks) > 1 {
				who = "ranks " + session.FormatRanks(e.Ranks) + " were"
			}
			e.Hint = fmt.Sprintf("%s replaced in %s, which lost %s there: `:restart replay` runs the cells again on all ranks",
				who, in.Title(), name)
			if in.Ended {
				e.Hint = fmt.Sprintf("%s restarted after %s, which lost %s there: enter the cell again that defines it", who,
					in.Title(), name)
			}
		}
	}
}

// lostIn returns the last cell in which the workers of all these ranks were replaced. It returns
// false if no cell up to that one contains name.
func (c *Console) lostIn(ctx context.Context, name string, ranks []int) (session.Cell, bool) {
	infos, err := c.Session.Ranks(ctx)
	if err != nil {
		return session.Cell{}, false
	}
	last := 0
	for _, r := range ranks {
		i := slices.IndexFunc(infos, func(info session.RankInfo) bool { return info.Rank == r })
		if i < 0 || infos[i].Replaced == 0 {
			return session.Cell{}, false
		}
		last = max(last, infos[i].Replaced)
	}
	cells, err := c.Session.History(ctx)
	if err != nil {
		return session.Cell{}, false
	}
	in, named := session.Cell{ID: last}, false
	for _, cell := range cells {
		named = named || cell.ID <= last && names(cell.Source, name)
		if cell.ID == last {
			in = cell
		}
	}
	return in, named
}

// names reports whether name is a word of Go source, outside literals and comments.
func names(source, name string) bool {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), []byte(source), nil, 0)
	for {
		switch _, tok, text := s.Scan(); {
		case tok == token.IDENT && text == name:
			return true
		case tok == token.EOF:
			return false
		}
	}
}
