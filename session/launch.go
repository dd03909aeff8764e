package session

import (
	"context"
	"fmt"

	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// Launch starts config.Ranks workers on this host and returns the session that drives them, when all of them
// are ready. The caller becomes their supervisor; its program must begin as IsWorker says. If a worker cannot
// start, the error says why, and nothing is left.
func Launch(ctx context.Context, config Config) (Session, error) {
	if config.Ranks < 1 {
		return nil, fmt.Errorf("a session needs at least one rank, not %d", config.Ranks)
	}
	dir, err := userdir.New()
	if err != nil {
		return nil, err
	}
	c := newController(config, config.Ranks, dir)
	for r := range config.Ranks {
		c.addLocal(r, r)
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// open makes the session ready for its first cell, or closes it.
func (c *controller) open(ctx context.Context) error {
	err := c.begin(ctx)
	if err == nil {
		err = c.serveFronts() // who attaches finds ranks that take cells
	}
	if err != nil {
		c.Close()
	}
	return err
}
