package controller

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/watchdog"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Inspect implements Session.
func (c *controller) Inspect(ctx context.Context, ranks []int, q session.Query) ([]session.Answer, error) {
	return c.inspectWithin(ctx, answerTimeout, ranks, q)
}

// inspectWithin is Inspect; a rank that does not answer in time has an error.
func (c *controller) inspectWithin(ctx context.Context, timeout time.Duration, ranks []int, q session.Query) ([]session.Answer, error) {
	ranks, err := c.chosen(ranks)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	errs := c.unavailable(ranks)
	c.mu.Unlock()
	alive := ranks
	var list []session.Answer
	for _, e := range errs {
		list = append(list, session.Answer{Rank: e.Ranks[0], Err: e})
		alive = rankset.Difference(alive, e.Ranks)
	}
	answers := c.ask(ctx, alive, timeout, func(id uint64) wire.Command {
		return wire.Command{Inspect: &wire.Question{ID: id, Query: q}}
	})
	for _, r := range alive {
		a := answers[r]
		switch {
		case a == nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case a == nil:
			list = append(list, session.Answer{Rank: r, Err: &session.Error{Kind: session.KindSystem, Ranks: []int{r}, Peer: -1,
				Msg: "the worker does not answer", Hint: "`:ranks` shows its state"}})
		case a.Answer.Err != nil:
			a.Answer.Err.Ranks = []int{r}
			list = append(list, session.Answer{Rank: r, Err: a.Answer.Err})
		default:
			list = append(list, decodeAnswer(r, a.payload))
		}
	}
	slices.SortFunc(list, func(a, b session.Answer) int { return a.Rank - b.Rank })
	return list, nil
}

// decodeAnswer returns the answer of a rank that a worker sent as payload.
func decodeAnswer(rank int, payload []byte) session.Answer {
	var a session.Answer
	if err := json.Unmarshal(payload, &a); err != nil {
		a = session.Answer{Err: &session.Error{Kind: session.KindSystem, Ranks: []int{rank}, Peer: -1, Msg: err.Error()}}
	}
	a.Rank = rank
	return a
}

// statusTimeout is the time that Ranks waits for a worker's answer. If a worker does not answer,
// Ranks reports what the controller knows about it.
const statusTimeout = 300 * time.Millisecond

// Ranks implements Session.
func (c *controller) Ranks(ctx context.Context) ([]session.RankInfo, error) {
	answers := c.ask(ctx, rankset.All(c.size), statusTimeout, func(id uint64) wire.Command { return wire.Command{Status: id} })
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]session.RankInfo, c.size)
	for r, s := range c.ranks {
		info := session.RankInfo{Rank: r, Incarnation: s.incarnation, RSS: s.rss, Replaced: s.replaced, Restarted: s.restarted, State: "starting"}
		if s.ready != nil {
			info.Host, info.PID, info.Device = s.ready.Host, s.ready.PID, s.ready.Device
			info.State = "idle"
		}
		a := answers[r]
		switch {
		case s.failed != nil:
			info.State, info.Doing = "dead", s.failed.Msg
		case s.ready == nil:
		case s.stopped:
			info.State, info.Doing = "stopped", "does not answer: its process is stopped (SIGCONT continues it)"
		case a == nil:
			info.Doing = "does not answer"
			if s.busy {
				info.State = "running"
			}
		case len(a.Status.Waits) > 0:
			info.State, info.Doing = "waiting", watchdog.Joined(watchdog.DescribeWaits(a.Status.Waits), watchdog.DescribeBusy(a.Status.Busy))
		case a.Status.Run != 0:
			info.State = "running"
			if doing := a.Status.Doing; doing != nil {
				info.Doing = doing.String()
				if doing.Blocked && !doing.Compiles {
					info.State = "waiting"
				}
			}
			info.Doing = watchdog.Joined(info.Doing, watchdog.DescribeBusy(a.Status.Busy))
		}
		if a != nil && a.Status != nil {
			info.Sharers = a.Status.Sharers
		}
		if a != nil && a.Status != nil && a.Status.Late != "" {
			info.Doing = watchdog.Joined(info.Doing, a.Status.Late)
		}
		list[r] = info
	}
	return list, nil
}

// answer is an event that answers a question, with its payload.
type answer struct {
	wire.Event
	payload []byte
}

// asked is a question to ranks that is under way. controller.mu guards it.
type asked struct {
	incarnations map[int]int // incarnations of the workers that have not answered, by rank
	answers      map[int]*answer
	all          chan struct{} // closed when all have answered
}

// ask sends a command to ranks and returns their answers by rank. The result has no entry for a
// rank that died or did not answer in time.
func (c *controller) ask(ctx context.Context, ranks []int, timeout time.Duration, question func(id uint64) wire.Command) map[int]*answer {
	if len(ranks) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	q := &asked{incarnations: make(map[int]int, len(ranks)), answers: make(map[int]*answer, len(ranks)), all: make(chan struct{})}
	c.mu.Lock()
	c.questions++
	id := c.questions
	c.asked[id] = q
	for _, r := range ranks {
		q.incarnations[r] = c.ranks[r].incarnation
	}
	c.mu.Unlock()
	c.tell(ranks, question(id), nil)
	c.awaitAnswers(ctx, q)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, id)
	return q.answers
}

// awaitAnswers waits for the answers of the workers that are still alive.
func (c *controller) awaitAnswers(ctx context.Context, q *asked) {
	for {
		c.mu.Lock()
		waits, changed := false, c.changed
		for r, incarnation := range q.incarnations {
			s := c.ranks[r]
			waits = waits || s.incarnation == incarnation && s.ready != nil
		}
		c.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-q.all:
			return
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// deliver passes an answer of ranks to the goroutine that asked. c.mu is held.
func (c *controller) deliver(id uint64, ranks []int, e wire.Event, payload []byte) {
	q := c.asked[id]
	if q == nil {
		return
	}
	for _, r := range ranks {
		if _, waited := q.incarnations[r]; waited {
			delete(q.incarnations, r)
			q.answers[r] = &answer{e, payload}
			if len(q.incarnations) == 0 {
				close(q.all)
			}
		}
	}
}
