package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/symmem"
)

// ranksWithoutGPU is the default of -n on the cpu device.
const ranksWithoutGPU = 4

// opened is a session that this process holds.
type opened struct {
	session.Session
	size     int
	launched bool // by torchrun, mpirun or srun
	tended   bool // by a launcher that stays as long as the job, as this process's parent
}

// withSession starts or joins the session that o asks for, runs do on it and closes it. In a process that a
// launcher started for another rank than 0 there is nothing to do but to serve that rank.
func withSession(ctx context.Context, o options, do func(*opened) (int, error)) (int, error) {
	s, err := open(ctx, o)
	if s == nil || err != nil {
		return statusOK, err
	}
	defer s.Close()
	return do(s)
}

// open returns nil when this process served another rank than 0, and its session is over.
func open(ctx context.Context, o options) (*opened, error) {
	launcher, launched, err := session.FromEnviron(os.Environ())
	if err != nil {
		return nil, err
	}
	config := session.Config{Ranks: o.ranks, Device: o.device, Backend: o.backend, Rendezvous: o.rdzv}
	if !launched {
		if o.rdzv != "" {
			return nil, misused("--rdzv is where processes of a launcher meet, and none has started this one: RANK and WORLD_SIZE are not set")
		}
		config.Ranks, config.Device = o.choose(o.ranks, o.ranks)
		s, err := session.Launch(ctx, config)
		if err != nil {
			return nil, err
		}
		return &opened{Session: s, size: config.Ranks}, nil
	}
	if o.ranks != 0 && o.ranks != launcher.Size {
		return nil, misused("-n %d, but %s has started %d processes; leave -n out", o.ranks, launcher.Name, launcher.Size)
	}
	_, config.Device = o.choose(launcher.Size, launcher.LocalSize)
	s, err := session.Join(ctx, launcher, config)
	if s == nil || err != nil {
		return nil, err
	}
	return &opened{Session: s, size: launcher.Size, launched: true, tended: launcher.Stays}, nil
}

// choose decides about the ranks, if that is 0, and the device: GPUs if there are as many as ranks on this
// host.
func (o options) choose(ranks, here int) (int, string) {
	if o.device != "auto" && ranks != 0 {
		return ranks, o.device
	}
	kinds := symmem.DeviceKinds()
	gpus, emulated := 0, kinds[slices.IndexFunc(kinds, func(k symmem.DeviceKind) bool { return k.Emulated })].Name
	if o.device != emulated {
		gpus = symmem.GPUs()
	}
	if ranks == 0 {
		ranks = gpus
	}
	if ranks == 0 {
		ranks = ranksWithoutGPU
	}
	switch {
	case o.device != "auto":
		return ranks, o.device
	case gpus >= max(here, 1):
		return ranks, kinds[0].Name
	case gpus > 0:
		fmt.Fprintf(os.Stderr, "symmrepl: there are fewer GPUs (%d) than ranks here (%d): they run on the %s device\n", gpus, here, emulated)
	}
	return ranks, emulated
}
