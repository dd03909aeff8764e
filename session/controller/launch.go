package controller

import (
	"context"
	"errors"
	"fmt"

	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
	"github.com/symmrepl/symmrepl/session/supervisor"
	"github.com/symmrepl/symmrepl/session/wire"
)

// Launch starts config.Ranks workers on this host and, when all of them are ready, returns the
// session that drives them. The calling process becomes their supervisor; its main function must
// begin as described at [worker.Is]. If a worker cannot start, the error says why, and no process is
// left.
func Launch(ctx context.Context, config session.Config) (session.Session, error) {
	if config.Ranks < 1 {
		return nil, fmt.Errorf("a session needs at least one rank, not %d", config.Ranks)
	}
	if err := supervisor.EnoughRoom("a session of "+session.FormatSize(config.Ranks), config.Ranks, 0); err != nil {
		return nil, err
	}
	rendezvous.TakeToken() // only Join needs it
	dir, err := userdir.New()
	if err != nil {
		return nil, err
	}
	c := newController(config, config.Ranks, dir)
	for r := range config.Ranks {
		c.addLocal(Launcher{Rank: r, Size: config.Ranks, LocalRank: r, LocalSize: config.Ranks})
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// open makes the session ready for its first cell, or closes it.
func (c *controller) open(ctx context.Context) error {
	err := c.startWorkers(ctx)
	if err == nil && !c.config.Private {
		err = c.serveFronts() // only now, because the ranks take cells
	}
	if err != nil {
		c.Close()
	}
	return err
}

// addLocal makes this process the supervisor of the rank at a place.
func (c *controller) addLocal(at Launcher) {
	s := supervisor.New(c.spawner, c.config, at, c.dir.Path)
	s.ConnectHub = c.hubConnector(at.Rank)
	s.Emit = func(e wire.Event, payload []byte) { c.event([]int{at.Rank}, e, payload) }
	c.mu.Lock()
	c.ranks[at.Rank].keeper = s
	c.mu.Unlock()
}

// startWorkers starts a worker on every rank and waits until all of them take cells.
func (c *controller) startWorkers(ctx context.Context) error {
	c.mu.Lock()
	for _, s := range c.ranks {
		s.startNext()
	}
	c.mu.Unlock()
	c.tell(rankset.All(c.size), wire.Command{Start: &wire.Start{Incarnation: 1}}, nil)
	if err := c.awaitWorkers(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for r, s := range c.ranks {
		if s.failed != nil {
			errs = append(errs, fmt.Errorf("rank %d: %w", r, s.failed))
		}
	}
	if first := c.ranks[0].ready; first != nil && first.Note != "" && c.config.Notice != nil {
		c.config.Notice(first.Note)
	}
	return errors.Join(errs...)
}
