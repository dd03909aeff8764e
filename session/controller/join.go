package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/hosts"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Launcher describes the place in the world that torchrun, mpirun or srun has given to a process.
type Launcher = launcher.Launcher

// FromEnviron reads the variables of a launcher from environ, or the variables that a user sets to
// start the process of each rank by hand: see [launcher.FromEnviron] and [launcher.ByHandHere].
func FromEnviron(environ []string) (l Launcher, ok bool, err error) {
	if environ, err = launcher.ByHandHere(environ); err != nil {
		return Launcher{}, false, err
	}
	return launcher.FromEnviron(environ)
}

// Join makes this process, one of several that a launcher has started, the supervisor of its rank.
// In rank 0 it returns the session when all ranks are ready. In the other ranks it returns (nil,
// nil) when the session is over, or an error if this rank left the session before its end. On one
// host the ranks meet over a Unix socket; otherwise over TLS, for which all ranks need the same
// token.
func Join(ctx context.Context, l Launcher, config session.Config) (session.Session, error) {
	config.Ranks = l.Size
	remote := l.LocalSize
	if l.Rank == 0 {
		remote = l.Size - 1
	}
	if err := supervisor.EnoughRoom(fmt.Sprintf("rank %d of a session of %s", l.Rank, session.FormatSize(l.Size)), 1, remote); err != nil {
		return nil, err
	}
	place, err := rendezvous.Find(l, rendezvous.Session, config.Rendezvous)
	if err != nil {
		return nil, err
	}
	at := hosts.MeetingAt(place, l.Size)
	at.Heartbeat = config.Heartbeat
	at.Waits = func(missing []int, where string) {
		if config.Notice != nil {
			config.Notice(fmt.Sprintf("rank %d of %d waits for rank %s at %s", l.Rank, l.Size, session.FormatRanks(missing), where))
		}
	}
	if l.Rank == 0 {
		return lead(ctx, at, l, config)
	}
	return nil, hosts.Follow(ctx, at, l, config)
}

// lead is Join on rank 0.
func lead(ctx context.Context, at rendezvous.Meeting, l Launcher, config session.Config) (session.Session, error) {
	dir, err := userdir.New()
	if err != nil {
		return nil, err
	}
	c := newController(config, l.Size, dir)
	c.recoverLimit += at.Silence()
	c.addLocal(l)
	ctx, cancel := context.WithTimeout(ctx, rendezvous.Timeout)
	defer cancel()
	if l.Size > 1 {
		c.mu.Lock()
		c.meeting, err = at.Serve(ctx, c.admit)
		c.mu.Unlock()
		if err == nil {
			err = c.awaitRanks(ctx, at.Place)
		}
		if err != nil {
			c.Close()
			return nil, err
		}
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// awaitRanks returns when every rank but 0 has joined. The error names the missing ranks.
func (c *controller) awaitRanks(ctx context.Context, place *rendezvous.Place) error {
	missing := c.meeting.Wait(ctx)
	if len(missing) == 0 {
		return nil
	}
	err := fmt.Errorf("rank %s did not join at %s", session.FormatRanks(missing), place)
	if c.meeting.Strangers() {
		err = fmt.Errorf("%w, but a process with another token did: is %s the same on all hosts?", err, rendezvous.TokenVariable)
	}
	if trouble := c.meeting.Trouble(); trouble != "" {
		err = fmt.Errorf("%w; %s", err, trouble)
	}
	return err
}

// admit decides whether to accept a link from another process. The link belongs to a rank's
// supervisor, or connects the worker of an incarnation to the hub.
func (c *controller) admit(link *rendezvous.Link) (serve func(), refused string) {
	if link.Hello.Incarnation == 0 {
		return c.admitSupervisor(link)
	}
	rank, incarnation := link.Hello.Rank, link.Hello.Incarnation
	c.mu.Lock()
	over, current := c.isOver(), c.ranks[rank].incarnation
	c.mu.Unlock()
	switch {
	case over:
		return nil, "the session is over"
	case incarnation != current:
		return nil, fmt.Sprintf("rank %d speaks for worker %d, not the current %d", rank, incarnation, current)
	}
	return c.serveHub(rank, link.Conn), "" // the rank's supervisor starts the worker only after the answer
}

// admitSupervisor admits the process of a rank. If it leads its host, the other ranks of that host
// join through it.
func (c *controller) admitSupervisor(link *rendezvous.Link) (serve func(), refused string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOver() {
		return nil, "the session is over"
	}
	k := newHostKeeper(link, []int{link.Hello.Rank})
	c.ranks[link.Hello.Rank].keeper = k
	return func() {
		go c.tellMissing(k)
		k.listen(c)
	}, ""
}

// joinThrough admits ranks that have joined the leader of their host.
func (c *controller) joinThrough(k *hostKeeper, ranks []int) {
	c.mu.Lock()
	meeting := c.meeting
	c.mu.Unlock()
	for _, rank := range ranks {
		refused := meeting.Through(rank, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ranks[rank].keeper = k
		})
		if refused != "" {
			k.Do(wire.Command{Ranks: []int{rank}, Refused: refused}, nil)
			continue
		}
		k.ranks = rankset.Union(k.ranks, []int{rank})
	}
}

// whyGone describes why a rank has lost its supervisor. The link to the supervisor has failed with
// err.
func (c *controller) whyGone(rank int, err error) string {
	silence := new(heartbeat.SilenceError)
	if !errors.As(err, &silence) {
		return hosts.GoneBecause(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	host := "its host"
	if ready := c.ranks[rank].ready; ready != nil {
		host += " " + ready.Host
	}
	return fmt.Sprintf("%s is silent: %v", host, silence)
}

// tellMissing sends the list of missing ranks to the processes that have joined by a link, until
// all ranks have joined. The processes cannot know it: only rank 0 sees the ranks that join.
func (c *controller) tellMissing(k *hostKeeper) {
	for {
		select {
		case <-k.Gone:
			return
		case <-time.After(rendezvous.NoticeAfter):
		}
		c.mu.Lock()
		meeting := c.meeting
		c.mu.Unlock()
		missing := meeting.Missing()
		if len(missing) == 0 {
			return
		}
		k.Do(wire.Command{Missing: missing}, nil)
	}
}
