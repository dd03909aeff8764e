package symmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/symmem/internal/devices"
)

// deviceVariable chooses the device of programs whose Config leaves it open.
const deviceVariable = "SYMMREPL_DEVICE"

// MustStart is [Start] with the zero Config for main functions: if there is no world to be had, it
// says why and ends the program with status 1.
func MustStart() *Runtime {
	rt, err := Start(Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return rt
}

// Start is [Init] for a compiled program of which a launcher runs one process for each rank: it
// learns the rank from the variables of torchrun, mpirun or srun and meets the others. RANK and
// WORLD_SIZE are enough to start the processes of one host by hand; without any of the variables
// the world is this process alone. The ranks of several hosts meet over TLS, at MASTER_ADDR and
// MASTER_PORT, for which all need the same secret in SYMMREPL_TOKEN. SYMMREPL_HOSTS simulates
// hosts: 2, or 0-3/4-7, lets the ranks of one host share memory as if they were on two. A host that
// is silent for the 10 s of SYMMREPL_HEARTBEAT, which rank 0 may set to 30s or off, is lost: waits
// for its ranks end. So do waits for a rank whose process has ended. config.Client, config.Index
// and config.LocalSize are Start's to fill in. If config leaves the device open, it is the one in
// SYMMREPL_DEVICE, else cuda if there is a GPU, else cpu. If there are fewer GPUs than ranks on a
// host, several ranks share one, and rank 0 prints a note about that to standard error.
//
// Close of the runtime, at the end of the program, waits in rank 0 until the other ranks have
// closed theirs: rank 0 is where they meet. It is not to be deferred, so that a rank that panics
// ends at once and the launcher sees it.
func Start(config Config) (*Runtime, error) {
	l, launched, err := launcher.FromEnviron(launcher.ByHand(os.Environ()))
	switch {
	case err != nil:
		return nil, startError(l.Rank, err, "")
	case !launched:
		l.Size = 1
	}
	config.Index, config.LocalSize, config.Device = l.LocalRank, l.LocalSize, deviceFor(config.Device)
	if l.Size == 1 {
		return Init(config)
	}
	parts, err := simulated(l)
	if err != nil {
		return nil, startError(l.Rank, err, "set "+bootstrap.PartsVariable+" otherwise, or not at all")
	}
	m, err := meet(l, parts)
	if err != nil {
		return nil, startError(l.Rank, err, "")
	}
	config.Client = m.client
	rt, err := Init(config)
	if err != nil {
		m.client.Close()
		m.dir.Remove()
		return nil, err
	}
	rt.meeting = m
	if note := rt.Note(); note != "" && l.Rank == 0 {
		fmt.Fprintln(os.Stderr, "symmrepl:", note)
	}
	return rt, nil
}

func startError(rank int, err error, hint string) *Error {
	return &Error{Kind: KindSystem, Op: "Start", Rank: rank, Peer: -1, Msg: err.Error(), Hint: hint, Err: err}
}

// simulated returns the simulated hosts that the environment asks for.
func simulated(l launcher.Launcher) (bootstrap.Parts, error) {
	parts, err := bootstrap.ParseParts(os.Getenv(bootstrap.PartsVariable), l.Size)
	if err == nil && parts.Hosts() > 1 && l.LocalSize != 0 && !l.OneHost() {
		err = fmt.Errorf("%s simulates the hosts %s, but the ranks are on several already: %d of %d on this one",
			bootstrap.PartsVariable, parts, l.LocalSize, l.Size)
	}
	return parts, err
}

// deviceFor decides about a device that is left open.
func deviceFor(device string) string {
	if device == "" || device == "auto" {
		device = cmp.Or(os.Getenv(deviceVariable), "auto")
	}
	if device != "auto" {
		return device
	}
	return devices.Best().Name
}

// Meet waits for all work of this rank and then until all ranks of the world have come here. It is
// collective.
func Meet() { now().Meet() }

// meeting is this rank's part in the meeting of a program's ranks: a client of the hub that rank 0
// serves.
type meeting struct {
	client *bootstrap.Client
	dir    *userdir.Dir

	// Of rank 0.
	server *rendezvous.Server
	served sync.WaitGroup // ranks that have not left the hub
}

// meet connects this rank with the others.
func meet(l launcher.Launcher, parts bootstrap.Parts) (*meeting, error) {
	limit, err := heartbeat.Parse(os.Getenv(heartbeat.Variable))
	if err != nil {
		return nil, err
	}
	place, err := rendezvous.Find(l, rendezvous.Program, "")
	if err != nil {
		return nil, err
	}
	dir, err := userdir.New()
	if err != nil {
		return nil, err
	}
	m := &meeting{dir: dir}
	at := rendezvous.Meeting{Place: place, Size: l.Size, Version: bootstrap.Version, Heartbeat: limit, Build: rendezvous.Build()}
	at.Waits = func(missing []int, where string) {
		fmt.Fprintf(os.Stderr, "rank %d of %d waits for ranks %v at %s\n", l.Rank, l.Size, missing, where)
	}
	conn, err := m.connect(at, l.Rank)
	if err == nil {
		m.client, err = bootstrap.NewClient(conn, l.Rank, l.Size, dir.Path, parts)
	}
	if err != nil {
		dir.Remove()
		return nil, err
	}
	return m, nil
}

// connect returns this rank's connection with the hub, which in rank 0 it starts.
func (m *meeting) connect(at rendezvous.Meeting, rank int) (net.Conn, error) {
	if rank == 0 {
		return m.serve(at)
	}
	ctx, cancel := context.WithTimeout(context.Background(), rendezvous.Timeout)
	defer cancel()
	link, err := at.Join(ctx, rank, 0)
	var refused *rendezvous.RefusedError
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("rank 0 did not come to %s: %w", at.Place, err)
	}
	return link.Conn, nil
}

// serve starts the hub in rank 0 and returns this rank's own connection with it. Ranks that do not
// come in time are absent in all collective calls.
func (m *meeting) serve(at rendezvous.Meeting) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), rendezvous.Timeout)
	hub := bootstrap.NewHub(at.Size)
	hub.TellDepartures()
	m.served.Add(at.Size)
	listening := make(chan struct{}) // closed when m.server is set, or cannot be
	serve := func(rank int, conn net.Conn) {
		defer m.served.Done()
		defer conn.Close()
		hub.Serve(rank, conn)
		if <-listening; rank != 0 && m.server != nil {
			m.server.Refuse(rank, fmt.Sprintf("rank %d has left the world, or was lost, and cannot come back: start all ranks again", rank))
		}
	}
	var err error
	m.server, err = at.Serve(ctx, func(link *rendezvous.Link) (func(), string) {
		return func() { serve(link.Hello.Rank, link.Conn) }, ""
	})
	close(listening)
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		for _, rank := range m.server.Wait(ctx) {
			hub.Leave(rank, "did not come")
			m.served.Done()
		}
	}()
	mine, theirs := net.Pipe()
	go serve(0, theirs)
	return mine, nil
}

// close ends this rank's part; rank 0 waits until the others have ended theirs.
func (m *meeting) close() {
	m.client.Close()
	if m.server != nil {
		m.served.Wait()
		m.server.Close()
	}
	m.dir.Remove()
	if m.server != nil {
		userdir.Sweep() // files of ranks that were killed on this machine
	}
}
