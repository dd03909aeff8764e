package session

import (
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// A rank is lost when its supervisor is gone: its host was killed, has frozen, or was cut off. It does not come back. The user is told once, of all ranks of
// a host together, wherever he is: in the cell that runs, or at the prompt. symm.Survivors() makes a group of the ranks that are left. From the cell on that calls it
// they recover without the lost ones after cells that ended unevenly; until then nobody recovers, as that would take from them what they still have of the world.

// lostTogether is how long the loss of a rank is kept back until that of others of its host is known too.
const lostTogether = 500 * time.Millisecond

// lose records that a rank is lost, of which the user is told soon. c.mu is held.
func (c *controller) lose(rank int, why string) {
	c.goesOn = false
	if c.meeting != nil {
		go c.meeting.Refuse(rank, fmt.Sprintf("rank %d was lost: %s; it cannot come back: leave the session at rank 0, and start it again on all hosts", rank, why))
	}
	if len(c.untold) == 0 {
		time.AfterFunc(lostTogether, func() {
			c.tellLost(c.say)
			userdir.Sweep() // a host that was killed on this very machine has left its folders
		})
	}
	c.untold = union(c.untold, []int{rank})
}

// tellLost shows which ranks are lost that nobody has been told of yet, if there are any.
func (c *controller) tellLost(out func(Output)) {
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
		said = append(said, fmt.Sprintf("rank %s is lost: %s", FormatRanks(untold[why]), why))
	}
	out(Output{Ranks: left, Stream: Note, Text: fmt.Sprintf(
		"%s; those that are left are %s: symm.Survivors() makes a group of them, and cells go on there from then on\n", strings.Join(said, "; "), FormatRanks(left))})
}

// say shows a remark of the session in the cell that runs; between cells at once, if Config.Notice can, and with the output of the next cell.
func (c *controller) say(o Output) {
	c.mu.Lock()
	r := c.run
	c.mu.Unlock()
	if r != nil {
		r.fold.show(o)
		return
	}
	if c.config.Notice != nil {
		c.config.Notice(strings.TrimSuffix(o.Text, "\n"))
	}
	c.keepPrinted(o)
}

// remaining lists the ranks that are not lost, ascending. c.mu is held.
func (c *controller) remaining() []int {
	return filtered(allRanks(c.size), func(rank int) bool { return !c.ranks[rank].lost })
}

// meant returns the ranks that a caller has named. If it names none, that is all of them; those that are lost among them, so that nobody takes what others do for
// the work of all, until a cell calls symm.Survivors(): from that on, it is the ranks that are left.
func (c *controller) meant(ranks []int, source string) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.remaining()
	if len(left) < c.size && callsSurvivors(source) && (ranks == nil || len(difference(left, ranks)) == 0) {
		c.goesOn = true
	}
	if ranks == nil && c.goesOn {
		return left, nil
	}
	return c.chosen(ranks)
}

// callsSurvivors reports whether the source of a cell has the name Survivors before a parenthesis, outside of comments and literals. That is all that can be known of
// the call where the cell's ranks are chosen: no rank has read it yet, and the session knows no types.
func callsSurvivors(source string) bool {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), []byte(source), nil, 0)
	named := false
	for {
		switch _, tok, text := s.Scan(); {
		case tok == token.EOF:
			return false
		case tok == token.LPAREN && named:
			return true
		default:
			named = tok == token.IDENT && text == "Survivors"
		}
	}
}
