package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// leaderPatience is the time that a process waits for the leader of its host before it joins rank 0
// by itself.
const leaderPatience = 5 * time.Second

// follower is a process of a rank other than 0.
type follower struct {
	at     rendezvous.Meeting // the meeting with rank 0; does not change once workers are started
	l      Launcher
	config session.Config
	dir    *userdir.Dir
}

// follow is Join on every rank but 0. On a host with several ranks, but without rank 0, the first
// rank leads: the others join through it, so that rank 0 has one link to the host.
func follow(ctx context.Context, at rendezvous.Meeting, l Launcher, config session.Config) error {
	dir, err := userdir.New()
	if err != nil {
		return err
	}
	defer dir.Remove()
	f := &follower{at, l, config, dir}
	several := l.LocalSize > 1 && !l.OneHost() && l.Rank != l.LocalRank
	if !several {
		return f.lead(ctx, nil)
	}
	place, err := rendezvous.OnHost(l, rendezvous.Host)
	if err != nil {
		return err
	}
	host := meetingAt(place, l.Size)
	if l.LocalRank == 0 {
		return f.lead(ctx, &host)
	}
	patience, cancel := context.WithTimeout(ctx, leaderPatience)
	defer cancel()
	link, err := host.Join(patience, l.Rank, 0)
	switch refused := new(rendezvous.RefusedError); {
	case err == nil:
		return f.join(ctx, link)
	case errors.As(err, &refused):
		return fmt.Errorf("rank %d cannot join the first rank of its host at %s: %w", l.Rank, place, err)
	}
	return f.lead(ctx, nil)
}

// supervisor returns the supervisor of this process's rank.
func (f *follower) supervisor(sp *supervisor.Spawner, emit func(wire.Event, []byte)) *supervisor.Supervisor {
	s := supervisor.New(sp, f.config, f.l, f.dir.Path)
	s.ConnectHub = func(incarnation int) (*os.File, error) { return relayBootstrap(f.at, f.l.Rank, incarnation) }
	s.Emit = emit
	return s
}

// join serves the rank through the leader of its host.
func (f *follower) join(ctx context.Context, link *rendezvous.Link) error {
	sp := supervisor.NewSpawner()
	defer sp.Close()
	s := f.supervisor(sp, func(e wire.Event, payload []byte) { send(link, e, payload) })
	defer s.Close()
	return f.read(ctx, link, "the first rank of this host", func(c wire.Command, payload []byte) {
		if c.Missing == nil {
			s.Do(c, payload)
		}
	})
}

// lead joins rank 0 and serves the rank. If host is not nil, lead also serves the other ranks of
// the host, which join there.
func (f *follower) lead(ctx context.Context, host *rendezvous.Meeting) error {
	sp := supervisor.NewSpawner()
	defer sp.Close()
	h := newHostLeader()
	h.add(f.l.Rank, f.supervisor(sp, func(e wire.Event, payload []byte) { h.emit(f.l.Rank, e, payload) }))
	meet, cancel := context.WithTimeout(ctx, rendezvous.Timeout)
	defer cancel()
	if host != nil {
		server, err := host.Serve(ctx, h.admit)
		if err == nil { // otherwise another process leads, for example if several hosts are simulated on one
			defer server.Close()
		}
	}
	link, err := f.at.Join(meet, f.l.Rank, 0)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("ended while rank %d waited for rank 0 at %s", f.l.Rank, f.at.Place)
	}
	if err != nil {
		return fmt.Errorf("rank %d cannot join rank 0 at %s: %w", f.l.Rank, f.at.Place, err)
	}
	f.at = f.at.At(link)
	defer h.close()
	defer h.serve(link)() // runs first, so that no worker waits for a link that is not read any more
	return f.read(ctx, link, "rank 0", h.Do)
}

// admit admits the process of another rank of the host.
func (h *hostLeader) admit(link *rendezvous.Link) (serve func(), refused string) {
	rank := link.Hello.Rank
	h.mu.Lock()
	known := h.keepers[rank] != nil
	h.mu.Unlock()
	switch {
	case link.Hello.Incarnation != 0:
		return nil, "workers are to reach rank 0 themselves"
	case known:
		return nil, fmt.Sprintf("rank %d has joined already", rank)
	}
	k := &remoteKeeper{link, make(chan struct{})}
	return func() {
		link.WriteWithin(linkTimeout)
		h.add(rank, k)
		h.emit(rank, wire.Event{Joins: true}, nil)
		err := k.listen(func(e wire.Event, payload []byte) { h.emit(rank, e, payload) })
		h.emit(rank, wire.Event{Gone: goneBecause(err)}, nil)
		h.remove(rank)
	}, ""
}

// read passes the commands from link to do, until the session is over, which is no error, or until
// ctx or the link ends. from names the sender.
func (f *follower) read(ctx context.Context, link *rendezvous.Link, from string, do func(wire.Command, []byte)) error {
	defer link.Close()
	link.WriteWithin(linkTimeout)
	defer context.AfterFunc(ctx, func() { link.Close() })()
	var missing []int // as last reported by rank 0; nil once all ranks have joined
	for {
		var c wire.Command
		payload, err := link.In.Read(&c)
		switch {
		case ctx.Err() != nil && missing != nil:
			return fmt.Errorf("ended while rank %d waited for rank %s at %s", f.l.Rank, session.FormatRanks(missing), f.at.Place)
		case ctx.Err() != nil:
			return fmt.Errorf("rank %d has left the session", f.l.Rank)
		case errors.As(err, new(*heartbeat.SilenceError)):
			return fmt.Errorf("%s is gone: %w", from, err)
		case err != nil && link.Stopped() > 0:
			return fmt.Errorf("%s is gone, or has given up this host after %v of silence: leave the session at rank 0, and start it again on all hosts",
				from, link.Stopped().Round(time.Second))
		case errors.Is(err, io.EOF):
			return errors.New(from + " is gone")
		case err != nil:
			return fmt.Errorf("the connection to %s: %w", from, err)
		case c.Quit:
			return nil
		case c.Refused != "" && len(c.Ranks) == 0:
			return errors.New(c.Refused)
		case c.Missing != nil && !slices.Equal(c.Missing, missing):
			f.at.Waits(c.Missing, f.at.Place.String())
		}
		missing = c.Missing
		do(c, payload)
	}
}
