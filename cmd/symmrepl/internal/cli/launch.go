package cli

import (
	"context"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/interp"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// ranksWithoutGPU is the default of -n on the cpu device.
const ranksWithoutGPU = 4

// opened is a session that this program holds, and how it came by it.
type opened struct {
	session.Session
	size int
}

// open starts the session that o asks for.
func open(ctx context.Context, o options) (*opened, error) {
	config := o.local()
	s, err := session.Launch(ctx, config)
	if err != nil {
		return nil, err
	}
	return &opened{s, config.Ranks}, nil
}

// local decides about the ranks and the device of a session on this machine: GPUs if there are as many as ranks.
func (o options) local() session.Config {
	config := session.Config{Ranks: o.ranks, Device: o.device, Backend: o.backend}
	gpus := 0
	if o.device != "cpu" {
		gpus = symmem.GPUs()
	}
	if config.Ranks == 0 {
		config.Ranks = gpus
	}
	if config.Ranks == 0 {
		config.Ranks = ranksWithoutGPU
	}
	if o.device == "auto" {
		config.Device = "cpu"
		if gpus >= config.Ranks {
			config.Device = "cuda"
		}
	}
	return config
}

// console returns a console on the session that prints to this program's output.
func (s *opened) console() *console.Console {
	return &console.Console{Session: s, Printer: printer(s.size), Incomplete: interp.Incomplete}
}
