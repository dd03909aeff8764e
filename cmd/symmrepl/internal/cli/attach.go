package cli

import (
	"context"

	"github.com/symmrepl/symmrepl/session"
)

// attach runs symmrepl attach [DIR].
func attach(ctx context.Context, _ options, args []string) (int, error) {
	if len(args) > 1 {
		return 0, misused("attach takes one session at most; %d were given", len(args))
	}
	dir := ""
	if len(args) == 1 {
		dir = args[0]
	}
	s, err := attachTo(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return front(ctx, s)
}

// attachTo attaches to a running session, the newest if dir is empty.
func attachTo(ctx context.Context, dir string) (*opened, error) {
	s, err := session.Attach(ctx, dir)
	if err != nil {
		return nil, err
	}
	infos, err := s.Ranks(ctx)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &opened{Session: s, size: len(infos), attached: true}, nil
}
