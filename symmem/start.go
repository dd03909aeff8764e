package symmem

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
)

// Bounds of the start of a program's ranks.
const (
	startTimeout = 60 * time.Second      // until all of them have come
	helloTimeout = 5 * time.Second       // for a connection to say whose it is
	dialEvery    = 20 * time.Millisecond // between attempts while rank 0 is not there
)

// deviceVariable chooses the device of programs whose Config leaves it open.
const deviceVariable = "SYMMREPL_DEVICE"

// MustStart is [Start] with the zero Config for main functions: if there is no world to be had, it says why and
// ends the program with status 1.
func MustStart() *Runtime {
	rt, err := Start(Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return rt
}

// Start is [Init] for a compiled program of which a launcher runs one process for each rank: it learns the rank
// from the variables of torchrun, mpirun or srun and meets the others, all of which must be on this host. RANK and
// WORLD_SIZE are enough to start the processes by hand; without any of the variables the world is this process
// alone. config.Client and config.Index are Start's to fill in. A device that config leaves open is what
// SYMMREPL_DEVICE says, else cuda if there are as many GPUs as ranks, else cpu.
//
// Close of the runtime, at the end of the program, waits in rank 0 until the other ranks have closed theirs: rank 0 is
// where they meet. It is not to be deferred, so that a rank that panics ends at once and the launcher sees it.
func Start(config Config) (*Runtime, error) {
	l, launched, err := launcher.FromEnviron(byHand(os.Environ()))
	switch {
	case err != nil:
		return nil, startError(l.Rank, err, "")
	case launched && l.LocalSize != 0 && !l.OneHost():
		return nil, startError(l.Rank, fmt.Errorf("%d of %d ranks are on this host", l.LocalSize, l.Size), "start all of them on one")
	case !launched:
		l.Size = 1
	}
	config.Index, config.Device = l.LocalRank, deviceFor(config.Device, l.Size)
	if l.Size == 1 {
		return Init(config)
	}
	m, err := meet(l)
	if err != nil {
		return nil, startError(l.Rank, err, "")
	}
	config.Client = m.client
	rt, err := Init(config)
	if err != nil {
		m.client.Close()
		return nil, err
	}
	rt.meeting = m
	return rt, nil
}

func startError(rank int, err error, hint string) *Error {
	return &Error{Kind: KindSystem, Op: "Start", Rank: rank, Peer: -1, Msg: err.Error(), Hint: hint, Err: err}
}

// byHand adds what a launcher would say beside RANK and WORLD_SIZE when all ranks are on one host.
func byHand(environ []string) []string {
	has := func(name string) string {
		for _, v := range slices.Backward(environ) {
			if len(v) > len(name) && v[:len(name)+1] == name+"=" {
				return v[len(name)+1:]
			}
		}
		return ""
	}
	if rank, size := has("RANK"), has("WORLD_SIZE"); rank != "" && size != "" && has("LOCAL_RANK") == "" {
		return append(slices.Clip(environ), "LOCAL_RANK="+rank, "LOCAL_WORLD_SIZE="+size)
	}
	return environ
}

// deviceFor decides about a device that is left open.
func deviceFor(device string, ranks int) string {
	if device == "" || device == "auto" {
		device = cmp.Or(os.Getenv(deviceVariable), "auto")
	}
	if device != "auto" {
		return device
	}
	if GPUs() >= ranks {
		return "cuda"
	}
	return "cpu"
}

// Meet waits for all work of this rank and then until all ranks of the world have come here. It is collective.
func Meet() { now().Meet() }

// Meet waits for all work of this rank and then until all ranks have come here. What they put into each other's
// memory before is there afterwards. It is collective over the world.
func (rt *Runtime) Meet() {
	rt.Synchronize()
	rt.all.meet("Meet", "", nil)
}

// meeting is where the ranks of a program meet: a socket that rank 0 serves.
type meeting struct {
	client *bootstrap.Client

	// Of rank 0.
	listener launcher.UserListener
	served   sync.WaitGroup // connections
	dir      string
}

// meetingDir is how the names of the directories of programs begin, in the user's own.
const meetingDir = "p"

// meet connects this rank with the others.
func meet(l launcher.Launcher) (*meeting, error) {
	base, err := launcher.BaseDir()
	if err != nil {
		return nil, err
	}
	m := &meeting{dir: filepath.Join(base, meetingDir+l.Key())}
	path := filepath.Join(m.dir, "meet")
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if l.Rank == 0 {
		if err := m.serve(path, l.Size); err != nil {
			return nil, err
		}
	}
	conn, err := dialMeeting(ctx, path, l)
	if err == nil {
		m.client, err = bootstrap.NewClient(conn, l.Rank, l.Size, m.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("rank 0 did not come to %s: %w", path, err)
	}
	return m, nil
}

// serve lets ranks meet in this process. Who comes too late is not admitted.
func (m *meeting) serve(path string, size int) error {
	listener, err := m.listen(path)
	if err != nil {
		return err
	}
	listener.SetDeadline(time.Now().Add(startTimeout))
	m.listener = listener
	hub := bootstrap.NewHub(size)
	m.served.Add(size)
	go func() {
		came := make([]bool, size)
		for n := 0; n < size; {
			conn, err := listener.Accept()
			if err != nil {
				break
			}
			rank, err := rankOf(conn, size)
			if err != nil || came[rank] {
				conn.Close()
				continue
			}
			came[rank] = true
			n++
			go func() {
				defer m.served.Done()
				defer conn.Close()
				hub.Serve(rank, conn)
			}()
		}
		for rank, here := range came {
			if !here {
				hub.Leave(rank, "did not come")
				m.served.Done()
			}
		}
	}()
	return nil
}

// listen makes the directory of the program and the socket in it, and removes those of programs that were killed.
func (m *meeting) listen(path string) (launcher.UserListener, error) {
	base := filepath.Dir(m.dir)
	guard, err := launcher.LockBase(base)
	if err != nil {
		return launcher.UserListener{}, err
	}
	defer guard.Close()
	sockets, _ := filepath.Glob(filepath.Join(base, meetingDir+"*", filepath.Base(path)))
	for _, socket := range sockets {
		conn, err := net.Dial("unix", socket)
		switch {
		case err == nil && socket == path:
			conn.Close()
			return launcher.UserListener{}, fmt.Errorf("another rank 0 listens at %s", path)
		case err == nil:
			conn.Close()
		case errors.Is(err, syscall.ECONNREFUSED): // nobody listens any more
			os.RemoveAll(filepath.Dir(socket))
		}
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return launcher.UserListener{}, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	return launcher.UserListener{UnixListener: l}, err
}

// A connection begins with the rank and the number of ranks, which the hub's protocol does not say before.
type meetingHello struct{ Rank, Size uint32 }

func rankOf(conn net.Conn, size int) (int, error) {
	var h meetingHello
	conn.SetDeadline(time.Now().Add(helloTimeout))
	if err := binary.Read(conn, binary.LittleEndian, &h); err != nil {
		return 0, err
	}
	if int(h.Size) != size || int(h.Rank) >= size {
		return 0, fmt.Errorf("rank %d of %d in a world of %d", h.Rank, h.Size, size)
	}
	return int(h.Rank), conn.SetDeadline(time.Time{})
}

// dialMeeting connects with rank 0, which may come later.
func dialMeeting(ctx context.Context, path string, l launcher.Launcher) (net.Conn, error) {
	for {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", path)
		if err == nil {
			if err = bootstrap.SameUser(conn.(*net.UnixConn)); err == nil {
				err = binary.Write(conn, binary.LittleEndian, meetingHello{uint32(l.Rank), uint32(l.Size)})
			}
			if err != nil {
				conn.Close()
			}
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(dialEvery):
		}
	}
}

// close ends this rank's part; rank 0 waits for that of the others.
func (m *meeting) close() {
	m.client.Close()
	if m.listener.UnixListener != nil {
		m.served.Wait()
		m.listener.Close()
		os.RemoveAll(m.dir)
	}
}
