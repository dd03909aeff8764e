package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/shadow"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/statedir"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/term"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/controller"
	"github.com/symmrepl/symmrepl/symmem"
)

// ranksWithoutGPU is the default of -n on the cpu device.
const ranksWithoutGPU = 4

// opened is a session that this process holds.
type opened struct {
	session.Session
	size     int
	emulated bool   // its devices are emulated
	launched bool   // by torchrun, mpirun or srun
	attached bool   // to a session that outlives this process
	dir      string // of that session
	tended   bool   // by a launcher that is this process's parent for the whole job

	shadow *shadow.Shadow // nil before there is a console
}

// Close ends or leaves the session, and ends its second one.
func (s *opened) Close() error {
	if s.shadow != nil {
		s.shadow.Close()
	}
	return s.Session.Close()
}

// withSession starts or joins the session of o, runs do on it and closes it. A process that a
// launcher started for another rank than 0 only serves its rank.
func withSession(ctx context.Context, o options, do func(*opened) (int, error)) (int, error) {
	s, err := open(ctx, o)
	if s == nil || err != nil {
		return statusOK, err
	}
	defer s.Close()
	return do(s)
}

// open returns nil after this process has served another rank than 0 to the end of its session.
func open(ctx context.Context, o options) (*opened, error) {
	launcher, launched, err := controller.FromEnviron(os.Environ())
	if err != nil {
		return nil, err
	}
	deadlock, err := session.ParseDeadlock(cmp.Or(o.deadlock, os.Getenv(session.DeadlockVariable)))
	if err != nil {
		return nil, misused("%s=%s: %v", session.DeadlockVariable, os.Getenv(session.DeadlockVariable), err)
	}
	config := session.Config{Ranks: o.ranks, Device: o.device, Backend: o.backend, Network: o.network, Rendezvous: o.rdzv,
		Notice: notice, Prompt: o.prompt, Reports: statedir.Dir(), Args: o.programArgs, Program: o.program, Deadlock: deadlock}
	if !launched {
		if o.rdzv != "" {
			return nil, misused("--rdzv is where processes of a launcher meet, and none has started this one: RANK and WORLD_SIZE are not set")
		}
		if config.Ranks, config.Device, config.Hosts, err = o.place(); err != nil {
			return nil, err
		}
		s, err := controller.Launch(ctx, config)
		if err != nil {
			return nil, err
		}
		return &opened{Session: s, size: config.Ranks, emulated: emulated(config.Device)}, nil
	}
	if config.Heartbeat, err = session.ParseHeartbeat(os.Getenv(session.HeartbeatVariable)); err != nil {
		return nil, misused("%v", err)
	}
	if o.ranks != 0 && o.ranks != launcher.Size {
		return nil, misused("-n %d, but %s has started %d processes; leave -n out", o.ranks, launcher.Name, launcher.Size)
	}
	if config.Hosts, err = o.simulated(launcher.Size); err != nil {
		return nil, err
	}
	if launcher.LocalSize != 0 && !launcher.OneHost() && config.Hosts.Hosts() > 1 {
		return nil, misused("the hosts %s cannot be simulated: %s has started %d of %d processes on this host; leave --hosts and %s out", config.Hosts, launcher.Name, launcher.LocalSize, launcher.Size, session.HostsVariable)
	}
	_, config.Device = o.choose(launcher.Size)
	if err := o.checkBackend(config.Device); err != nil {
		return nil, err
	}
	s, err := controller.Join(ctx, launcher, config)
	if s == nil || err != nil {
		return nil, err
	}
	return &opened{Session: s, size: launcher.Size, emulated: emulated(config.Device), launched: true, tended: launcher.Stays}, nil
}

// place returns the number of ranks, the kind of their device and their hosts, or why there can be no
// such session.
func (o options) place() (ranks int, device string, hosts session.Hosts, err error) {
	ranks, device = o.choose(o.ranks)
	if err = o.checkBackend(device); err != nil {
		return ranks, device, hosts, err
	}
	if hosts, err = o.simulated(ranks); err != nil {
		return ranks, device, hosts, err
	}
	if here := ranks / hosts.Hosts(); here > symmem.MaxRanks {
		err = misused("%d ranks on one host, but at most %d may share memory: simulate more hosts by --hosts", here, symmem.MaxRanks)
	}
	return ranks, device, hosts, err
}

// simulated returns the simulated hosts of --hosts, or else of the environment.
func (o options) simulated(ranks int) (session.Hosts, error) {
	hosts, err := session.ParseHosts(cmp.Or(o.hosts, os.Getenv(session.HostsVariable)), ranks)
	if err != nil {
		return hosts, misused("%v", err)
	}
	return hosts, nil
}

// notice prints a sentence about the session.
func notice(text string) { term.Notify("symmrepl: " + text) }

// choose returns the number of ranks and the kind of their device. By default there is a rank for
// each GPU, or ranksWithoutGPU. The default kind is the GPUs' kind, if there are any; ranks share
// GPUs if there are fewer.
func (o options) choose(ranks int) (int, string) {
	if o.device != "auto" && ranks != 0 {
		return ranks, o.device
	}
	gpus := 0
	if !emulated(o.device) {
		gpus = symmem.GPUs()
	}
	ranks = cmp.Or(ranks, gpus, ranksWithoutGPU)
	if o.device != "auto" {
		return ranks, o.device
	}
	kinds := symmem.DeviceKinds() // the quickest come first
	if gpus > 0 {
		return ranks, kinds[0].Name
	}
	return ranks, kinds[len(kinds)-1].Name
}

// checkBackend refuses a back end that a kind of device does not have on this machine, before
// anything starts.
func (o options) checkBackend(device string) error {
	if o.backend == "" {
		return nil
	}
	for _, b := range (symmem.DeviceKind{Name: device}).Backends() {
		if b.Name == o.backend && !b.Available {
			return fmt.Errorf("--backend %s: %s (%s, or leave --backend out)", b.Name, b.Why, b.Hint)
		}
	}
	return nil
}

// emulated reports whether a kind of device is emulated.
func emulated(kind string) bool {
	return slices.ContainsFunc(symmem.DeviceKinds(), func(k symmem.DeviceKind) bool { return k.Name == kind && k.Emulated })
}
