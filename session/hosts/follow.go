package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// leaderPatience is the time that a process waits for the leader of its host before it joins rank 0
// by itself.
const leaderPatience = 5 * time.Second

// follower is a process of a rank other than 0.
type follower struct {
	at     rendezvous.Meeting // the meeting with rank 0; does not change once workers are started
	l      launcher.Launcher
	config session.Config
	dir    *userdir.Dir
}

// Follow makes this process the supervisor of a rank other than 0. It returns nil when the session is
// over, or an error if the rank left the session before. On a host with several ranks, but without rank
// 0, the first rank leads: the others join through it, so that rank 0 has one link to the host.
func Follow(ctx context.Context, at rendezvous.Meeting, l launcher.Launcher, config session.Config) error {
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
	host := MeetingAt(place, l.Size)
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
	h := NewLeader()
	h.Add(f.l.Rank, f.supervisor(sp, func(e wire.Event, payload []byte) { h.Emit(f.l.Rank, e, payload) }))
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
	defer h.Serve(link)() // runs first, so that no worker waits for a link that is not read any more
	return f.read(ctx, link, "rank 0", h.Do)
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

// relayBootstrap connects a new worker through this process to the hub, which runs in rank 0's
// process.
func relayBootstrap(at rendezvous.Meeting, rank, incarnation int) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), rendezvous.HandshakeTimeout)
	defer cancel()
	hub, err := at.Join(ctx, rank, incarnation)
	if err != nil {
		return nil, err
	}
	mine, theirs, err := inherit.Pair()
	if err != nil {
		hub.Close()
		return nil, err
	}
	var once sync.Once
	end := func() { once.Do(func() { hub.Close(); mine.Close() }) }
	go func() { defer end(); io.Copy(hub, mine) }()
	go func() { defer end(); io.Copy(mine, hub.In.Rest()) }()
	return theirs, nil
}
