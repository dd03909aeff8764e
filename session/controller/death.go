package controller

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/watchdog"
)

// A worker that dies while no cell runs costs its rank's variables, and no cell's error names it.
// The session reports such deaths at once, in one line for ranks that die together. If a cell
// begins before that, the cell's report of replaced ranks names them (recover); otherwise that
// report leaves them out where the user has seen the line.

// mourn records that the worker of rank has died while no cell ran; the session soon reports it.
// c.mu is held.
func (c *controller) mourn(rank int) {
	if len(c.mourned) == 0 {
		time.AfterFunc(lostTogether, c.tellDeaths)
	}
	c.mourned = rankset.Union(c.mourned, []int{rank})
}

// TellDeaths reports the deaths of mourn that no cell and no restart has reported.
func (c *controller) tellDeaths() {
	idle := false
	select {
	case c.turn <- struct{}{}:
		idle = true
		defer c.release()
	default: // the cell or restart that has the turn reports them
	}
	c.mu.Lock()
	dead, none := map[string][]int{}, []int{}
	for _, r := range rankset.Intersection(c.mourned, c.replaced) {
		s := c.ranks[r]
		dead[s.cause] = append(dead[s.cause], r)
		if s.failed != nil {
			none = append(none, r)
		}
	}
	c.mourned = nil
	if !idle || len(dead) == 0 || c.isOver() {
		c.mu.Unlock()
		return
	}
	var said []string
	for _, cause := range sortedKeys(dead) {
		said = append(said, fmt.Sprintf("rank %s %s", session.FormatRanks(dead[cause]), cause))
		for _, r := range dead[cause] {
			c.ranks[r].told = c.late != nil || c.config.Prompt
		}
	}
	next := "a fresh worker takes over" + lostThere + c.replayHint()
	if len(none) > 0 {
		next = fmt.Sprintf("no other takes the place of rank %s (`:restart` tries again)", session.FormatRanks(none))
	}
	c.mu.Unlock()
	c.tellUsers(fmt.Sprintf("%s while no cell ran: %s\n", strings.Join(said, "; "), next))
}

// untell makes the next cell report all ranks that were replaced: its front end has not seen the
// earlier report.
func (c *controller) untell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.ranks {
		s.told = false
	}
}

// placeAt sets the position of an error to an offset in the text of a cell.
func placeAt(e *session.Error, cell session.Cell, offset int) {
	if offset < 0 || offset > len(cell.Source) {
		return
	}
	before := cell.Source[:offset]
	line := strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	e.File = cell.Name
	e.Line, e.Column, e.Source = cell.Place(line+1, offset-start+1)
}

// togetherAgain follows the causes of deaths that are reported while the next workers start.
const togetherAgain = "; the ranks are brought together again\n"

// announceDeaths reports the ranks that died, after DeathAfter, if they were not reported yet and
// no other output has come: the cell has ended, but its reply comes only when fresh workers have
// taken over. Meanwhile all output goes through show. The caller calls done before it returns the
// reply.
func (r *run) announceDeaths(out func(session.Output)) (show func(session.Output), done func()) {
	if r.watch.ToldDeaths || !r.hasDied {
		return out, func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(time.Until(r.failedAt.Add(watchdog.DeathAfter)), func() {
		defer close(said)
		out(session.Output{Ranks: r.ranks, Stream: session.Note, Text: watchdog.DeathCauses(r.snapshot(time.Now())) + togetherAgain})
	})
	done = sync.OnceFunc(func() {
		if !timer.Stop() {
			<-said
		}
	})
	return func(o session.Output) { done(); out(o) }, done
}
