package controller

import (
	"fmt"
	"go/token"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/internal/gotokens"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
)

// A rank is lost when its supervisor is gone: its host was killed, has frozen, or was cut off. It
// does not come back. The session reports the loss once, for all ranks of a host together: in the
// running cell, or at the prompt. symm.Survivors() makes a group of the remaining ranks. From the
// cell that calls it on, they recover without the lost ranks after cells that ended differently on
// different ranks. Until then no rank recovers, because recovery would drop the resources that they
// still have of the world.

// lostTogether is the delay of the report of a loss, so that it covers other ranks of the same
// host.
const lostTogether = 500 * time.Millisecond

// lose records that a rank is lost; the session soon reports it. c.mu is held.
func (c *controller) lose(rank int, why string) {
	c.goesOn = false
	if c.meeting != nil {
		go c.meeting.Refuse(rank, fmt.Sprintf("rank %d was lost: %s; it cannot come back: leave the session at rank 0, and start it again on all hosts", rank, why))
	}
	if len(c.untold) == 0 {
		time.AfterFunc(lostTogether, c.tellLostSoon)
	}
	c.untold = rankset.Union(c.untold, []int{rank})
}

// tellLostSoon reports lost ranks in the cell that runs, or at the prompt. A cell that is about to run, or
// that just ended, reports them by itself (repair); tellLostSoon tries again, because the cell may begin and
// then run for long.
func (c *controller) tellLostSoon() {
	c.mu.Lock()
	r, told := c.run, len(c.untold) == 0
	c.mu.Unlock()
	switch {
	case told, c.isOver():
	case r != nil:
		r.do(func() { c.tellLost(r.fold.Show) })
	default:
		select {
		case c.turn <- struct{}{}:
			c.tellLost(c.remark)
			c.release()
		default:
			time.AfterFunc(lostTogether, c.tellLostSoon)
			return
		}
	}
	userdir.Sweep() // removes the folders of a host that was killed on this machine
}

// tellLost reports lost ranks that were not reported yet, if there are any.
func (c *controller) tellLost(out func(session.Output)) {
	c.mu.Lock()
	untold, left := map[string][]int{}, c.remaining()
	for _, r := range c.untold {
		why := c.ranks[r].failed.Msg
		untold[why] = append(untold[why], r)
	}
	c.untold = nil
	c.mu.Unlock()
	if len(untold) == 0 || c.isOver() {
		return
	}
	var said []string
	for _, why := range sortedKeys(untold) {
		said = append(said, fmt.Sprintf("rank %s is lost: %s", session.FormatRanks(untold[why]), why))
	}
	out(session.Output{Ranks: left, Stream: session.Note, Text: fmt.Sprintf(
		"%s; the remaining ranks are %s: symm.Survivors() makes a group of them, and later cells run on it\n",
		strings.Join(said, "; "), session.FormatRanks(left))})
}

// remark passes a remark of the session between cells to Config.Notice, if set, and also shows it with the
// output of the next cell.
func (c *controller) remark(o session.Output) {
	if c.config.Notice != nil {
		c.config.Notice(strings.TrimSuffix(o.Text, "\n"))
	}
	c.keepPrinted(o)
}

// remaining lists the ranks that are not lost, ascending. c.mu is held.
func (c *controller) remaining() []int {
	return rankset.Filter(rankset.All(c.size), func(rank int) bool { return !c.ranks[rank].lost })
}

// meant returns the ranks that a caller has named. If it has named none, they are all ranks. Until
// a cell calls symm.Survivors() that includes lost ranks, so that the user does not mistake the
// work of some ranks for the work of all; from that cell on, they are the remaining ranks.
func (c *controller) meant(ranks []int, source string) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.remaining()
	if len(left) < c.size && callsSurvivors(source) && (ranks == nil || len(rankset.Difference(left, ranks)) == 0) {
		c.goesOn = true
	}
	if ranks == nil && c.goesOn {
		return left, nil
	}
	return c.chosen(ranks)
}

// callsSurvivors reports whether the source of a cell has the name Survivors before a parenthesis,
// outside of comments and literals. When the cell's ranks are chosen, more cannot be known about
// the call: no rank has parsed the cell yet, and the session knows no types.
func callsSurvivors(source string) bool {
	named := false
	for t := range gotokens.All(source) {
		if t.Kind == token.LPAREN && named {
			return true
		}
		named = t.Kind == token.IDENT && t.Text == "Survivors"
	}
	return false
}
