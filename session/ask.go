package session

import (
	"context"
	"time"
)

// unasked is the number of a question whose answers only the running cell wants.
const unasked = 1<<64 - 1

// answer is an event that somebody asked for, with its payload.
type answer struct {
	event
	payload []byte
}

// ask sends a command to each of ranks and returns what they answer; nothing for a rank that died or let the
// time pass.
func (c *controller) ask(ctx context.Context, ranks []int, timeout time.Duration, question func(id uint64) command) map[int]*answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ids, channels := map[int]uint64{}, map[int]chan *answer{}
	incarnations := map[int]int{}
	c.mu.Lock()
	for _, r := range ranks {
		c.questions++
		ids[r], channels[r] = c.questions, make(chan *answer, 1)
		c.answers[c.questions] = channels[r]
		incarnations[r] = c.ranks[r].incarnation
	}
	c.mu.Unlock()
	for r, id := range ids {
		c.tell(r, question(id), nil)
	}
	answers := map[int]*answer{}
	for r, ch := range channels {
		if a := c.receive(ctx, r, incarnations[r], ch); a != nil {
			answers[r] = a
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.answers, id)
	}
	return answers
}

// receive waits for an answer for as long as the worker lives that was asked.
func (c *controller) receive(ctx context.Context, rank, incarnation int, ch chan *answer) *answer {
	for {
		c.mu.Lock()
		s := c.ranks[rank]
		alive, changed := s.incarnation == incarnation && s.ready != nil, c.changed
		c.mu.Unlock()
		if !alive {
			return nil
		}
		select {
		case a := <-ch:
			return a
		case <-changed:
		case <-ctx.Done():
			select {
			case a := <-ch: // it came while another rank was waited for
				return a
			default:
				return nil
			}
		}
	}
}

// deliver hands an answer to whoever asked. c.mu is held.
func (c *controller) deliver(id uint64, e event, payload []byte) {
	if ch := c.answers[id]; ch != nil {
		delete(c.answers, id)
		ch <- &answer{e, payload}
	}
}
