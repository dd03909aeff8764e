package controller

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat/relaytest"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous"
	"github.com/symmrepl/symmrepl/internal/bootstrap/rendezvous/storetest"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/hosts"
	"github.com/symmrepl/symmrepl/session/wire"
)

const testToken = "0123456789abcdef0123456789abcdef"

// joinAll runs the part of every process of a launcher's job in this process. It returns rank 0's
// session and a channel with the results of the other ranks.
func joinAll(t *testing.T, size int, launcher func(rank int) Launcher, config session.Config) (*console, chan error) {
	t.Helper()
	ended := make(chan error, size)
	for r := 1; r < size; r++ {
		go func() {
			_, err := Join(context.Background(), launcher(r), config)
			ended <- err
		}()
	}
	s, err := Join(context.Background(), launcher(0), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &console{Session: s, t: t, size: size, c: s.(*controller)}, ended
}

// exercise runs cells, kills a worker of a rank that is not this process's, and closes the session.
func exercise(t *testing.T, c *console, ended chan error) {
	t.Helper()
	c.want(c.eval("print hello\nprint RANK\ngather x"), "[0-2] hello\n[0] 0\n[1] 1\n[2] 2\n= [0-2] 012\n")
	c.want(c.eval("2:kill 9\ngather x"), replacedNote(2, 3, "was killed (SIGKILL)")+
		"! [2] died the worker was killed (SIGKILL) (a fresh one takes its place)\n! [0,1] peer in:2: Gather x: rank 2 was killed (SIGKILL)\n")
	c.want(c.eval("gather x"), "= [0-2] 012\n")
	c.want(c.interrupted("sleep 60000", 0, 1, 2), "! [0-2] interrupted in:1: interrupted\n")
	infos, err := c.Ranks(context.Background())
	soon(t, "the memory of rank 2 is sampled", func() bool {
		infos, err = c.Ranks(context.Background())
		return err != nil || infos[2].RSS != 0
	})
	if err != nil || infos[1].Device != "fake:1" || infos[2].Incarnation != 2 || infos[2].RSS < 1<<20 {
		t.Errorf("%+v, %v", infos, err)
	}
	c.Close()
	for range 2 {
		if err := receive(t, "a rank ends", ended); err != nil {
			t.Error(err)
		}
	}
	base, _ := userdir.Base()
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestJoinOneHost(t *testing.T) {
	runtimeDir(t)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "torchrun", Rank: r, Size: 3, LocalRank: r, LocalSize: 3, Port: 29500}
	}, session.Config{})
	exercise(t, c, ended)
}

func TestJoinTLS(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "mpirun", Rank: r, Size: 3, LocalRank: r}
	}, session.Config{Rendezvous: freeAddress(t)})
	exercise(t, c, ended)
}

// torchrun's agent listens at MASTER_PORT itself; rank 0 publishes its address there.
func TestJoinThroughStore(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	host, port := storetest.Start(t)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "torchrun", Rank: r, Size: 3, LocalRank: r, Address: host, Port: port, Job: "job/0", Store: true}
	}, session.Config{})
	exercise(t, c, ended)
}

// The ranks of a host join through the host's first rank, and rank 0 has one link to them.
func TestJoinHosts(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	c, ended := joinAll(t, 5, func(r int) Launcher {
		l := Launcher{Name: "torchrun", Rank: r, Size: 5, LocalRank: r, LocalSize: 2, Job: "job"}
		if r >= 2 {
			l.LocalRank, l.LocalSize = r-2, 3
		}
		return l
	}, session.Config{Rendezvous: freeAddress(t)})
	for _, r := range []int{3, 4} {
		if c.c.keeper(r) != c.c.keeper(2) || c.c.keeper(r) == c.c.keeper(1) {
			t.Errorf("rank %d does not share the link of rank 2", r)
		}
	}
	c.want(c.eval("print hello\nprint RANK\ngather x"), "[0-4] hello\n[0] 0\n[1] 1\n[2] 2\n[3] 3\n[4] 4\n= [0-4] 01234\n")
	c.want(c.eval("3:kill 9\ngather x"), replacedNote(3, 5, "was killed (SIGKILL)")+
		"! [3] died the worker was killed (SIGKILL) (a fresh one takes its place)\n! [0-2,4] peer in:2: Gather x: rank 3 was killed (SIGKILL)\n")
	c.want(c.eval("gather x", 0, 1, 2, 3, 4), "= [0-4] 01234\n")
	c.want(c.interrupted("sleep 60000", 0, 1, 2, 3, 4), "! [0-4] interrupted in:1: interrupted\n")
	c.want(c.eval("value RANK", 1, 4), "= [1] 1\n= [4] 4\n")
	got := 0
	reply := c.Eval(context.Background(), session.Cell{Source: "4:flood 3000000\n3:flood 1000000\nvalue done", Silent: true,
		Output: func(o session.Output) { got += len(o.Text) * len(o.Ranks) }})
	if len(reply.Errors) > 0 || got < 4000000 || got > 4000000+2*8192 || len(reply.Values) != 1 {
		t.Errorf("%d bytes, %v, %v", got, reply.Values, reply.Errors)
	}
	c.Close()
	for range 4 {
		if err := receive(t, "a rank ends", ended); err != nil {
			t.Error(err)
		}
	}
	base, _ := userdir.Base()
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A process on a host without a leader joins rank 0 by itself. A host has no leader if ranks are
// dealt to hosts in turn and its first rank is rank 0.
func TestJoinWithoutLeader(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the leader")
	}
	runtimeDir(t)
	writeToken(t, testToken)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "srun", Rank: r, Size: 3, LocalRank: r / 2, LocalSize: 2 - r%2, Job: "job"}
	}, session.Config{Rendezvous: freeAddress(t)})
	c.want(c.eval("print hello\ngather x"), "[0-2] hello\n= [0-2] 012\n")
	c.Close()
	for range 2 {
		if err := receive(t, "a rank ends", ended); err != nil {
			t.Error(err)
		}
	}
}

// A rank that joins twice, through different hosts, gets an error, and the session goes on without
// the second one.
func TestJoinTwice(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	l := Launcher{Name: "torchrun", Size: 4, LocalSize: 2, Job: "job"}
	config := session.Config{Rendezvous: freeAddress(t)}
	c, ended := joinAll(t, 4, func(r int) Launcher {
		l := l
		l.Rank, l.LocalRank = r, r%2
		return l
	}, config)
	l.Rank, l.LocalRank, l.Job = 1, 0, "another host"
	if _, err := Join(context.Background(), l, config); err == nil || !strings.Contains(err.Error(), "rank 1 has joined already") {
		t.Error(err)
	}
	at, err := rendezvous.OnHost(Launcher{Name: "torchrun", Job: "job"}, rendezvous.Host)
	if err != nil {
		t.Fatal(err)
	}
	link, err := hosts.MeetingAt(at, 4).Join(context.Background(), 1, 0) // through rank 2, which does not know of the first one
	if err != nil {
		t.Fatal(err)
	}
	var refused wire.Command
	if _, err := link.In.Read(&refused); err != nil || refused.Refused != "rank 1 has joined already" {
		t.Errorf("%+v, %v", refused, err)
	}
	link.Close()
	c.want(c.eval("gather x"), "= [0-3] 0123\n")
	c.Close()
	for range 3 {
		if err := receive(t, "a rank ends", ended); err != nil {
			t.Error(err)
		}
	}
}

// writeToken writes a token to the user's configuration.
func writeToken(t *testing.T, token string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(rendezvous.TokenVariable, "")
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "symmrepl")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freeAddress returns an address at which no process listens. Its port is outside of the range from
// which the kernel assigns ports.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(10000 + rand.IntN(20000))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			l.Close()
			return "127.0.0.1:" + port
		}
	}
	t.Fatal("no port is free")
	return ""
}

func TestJoinRefusals(t *testing.T) {
	runtimeDir(t)
	join := func(l Launcher, config session.Config) error {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		s, err := Join(ctx, l, config)
		if s != nil {
			s.Close()
		}
		return err
	}
	wants := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	far := Launcher{Name: "mpirun", Rank: 1, Size: 2, Address: "127.0.0.1", Port: 1}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(rendezvous.TokenVariable, "")
	wants("no token", join(far, session.Config{}), "need a shared secret: set SYMMREPL_TOKEN")
	t.Setenv(rendezvous.TokenVariable, "short")
	wants("short token", join(far, session.Config{}), "has 5 characters; at least 32")
	if os.Getenv(rendezvous.TokenVariable) != "" {
		t.Error("the token is still in the environment")
	}
	writeToken(t, testToken)
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "symmrepl", "token")
	os.Chmod(path, 0o644)
	wants("token for all to read", join(far, session.Config{}), "can be read by others")
	os.Chmod(path, 0o600)
	wants("nowhere", join(Launcher{Name: "mpirun", Rank: 1, Size: 2}, session.Config{}),
		"mpirun does not say where rank 0 is: set MASTER_ADDR and MASTER_PORT, or give --rdzv host:port")
	wants("no port", join(far, session.Config{Rendezvous: "host"}), "--rdzv host: it is host:port of rank 0")
	wants("nobody there", join(far, session.Config{}), "rank 1 cannot join rank 0 at 127.0.0.1:1")

	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	lead := Launcher{Name: "mpirun", Rank: 0, Size: 2, Address: "127.0.0.1", Port: taken.Addr().(*net.TCPAddr).Port}
	wants("port taken", join(lead, session.Config{}), "address already in use (give another with --rdzv host:port)")
	_, free, _ := net.SplitHostPort(freeAddress(t))
	lead.Port, _ = strconv.Atoi(free)
	wants("alone", join(lead, session.Config{}), "rank 1 did not join at 127.0.0.1:"+free)

	find := func(token string) *rendezvous.Place {
		t.Helper()
		writeToken(t, token)
		place, err := rendezvous.Find(lead, rendezvous.Session, "")
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	wrong, right := find(strings.ToUpper(testToken)), find(testToken)
	ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
	ended := make(chan error)
	go func() {
		_, err := Join(ctx, lead, session.Config{})
		ended <- err
	}()
	_, err = hosts.MeetingAt(wrong, 2).Join(ctx, 1, 0)
	wants("wrong token", err, "the other end does not know this session's token: is SYMMREPL_TOKEN the same on all hosts?")
	for _, h := range []struct {
		version, rank, size, incarnation int
		want                             string
	}{
		{wire.Version + 1, 1, 2, 0, fmt.Sprintf("rank 0 runs another version of symmrepl (protocol %d, not %d)", wire.Version, wire.Version+1)},
		{wire.Version, 1, 3, 0, "rank 0 is in a world of 2 ranks, not 3"},
		{wire.Version, 0, 2, 0, "rank 0 cannot join a world of 2"},
		{wire.Version, 1, 2, 5, "rank 1 speaks for worker 5, not the current 0"},
	} {
		_, err := rendezvous.Meeting{Place: right, Size: h.size, Version: h.version, Build: rendezvous.Build()}.Join(ctx, h.rank, h.incarnation)
		wants("hello", err, h.want)
	}
	cancel()
	wants("none of them", receive(t, "rank 0 gives up", ended),
		"rank 1 did not join at 127.0.0.1:"+free+", but a process with another token did: is SYMMREPL_TOKEN the same on all hosts?")
}

// FuzzSupervisor feeds the controller arbitrary bytes from a link that it has admitted.
func FuzzSupervisor(f *testing.F) {
	one, _ := frame.Append(nil, wire.Event{Output: session.Stdout}, []byte("x\n"))
	f.Add(one)
	two, _ := frame.Append(one, wire.Event{Done: &wire.Done{}}, nil)
	f.Add(two)
	f.Fuzz(func(t *testing.T, in []byte) {
		c := newController(session.Config{}, 2, nil)
		defer c.spawner.Close()
		a, b := net.Pipe()
		go func() { b.Write(in); b.Close() }()
		go io.Copy(io.Discard, b)
		link := &rendezvous.Link{Conn: heartbeat.New(a), Hello: rendezvous.Hello{Version: wire.Version, Rank: 1, Size: 2},
			In: frame.NewReader(a, wire.MaxPayload), Out: frame.NewWriter(a)}
		serve, refused := c.admit(link)
		if refused != "" {
			t.Fatal(refused)
		}
		serve()
	})
}

// Ranks recover while a host is silent: they wait for it as long as it is not lost, and no worker is
// replaced.
func TestRecoverWhileSilent(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	const limit = 5 * time.Second
	address := freeAddress(t)
	relay := relaytest.Start(t, address)
	place := func(r int) Launcher { return Launcher{Name: "mpirun", Rank: r, Size: 2, LocalRank: r} }
	ended := make(chan error, 1)
	go func() {
		_, err := Join(context.Background(), place(1), session.Config{Rendezvous: relay.Address, Heartbeat: limit})
		ended <- err
	}()
	s, err := Join(context.Background(), place(0), session.Config{Rendezvous: address, Heartbeat: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &console{Session: s, t: t, size: 2, c: s.(*controller)}
	c.want(c.eval("let x 7"), "")
	c.c.recoverLimit -= recoverTimeout // leaves the time that a host may be silent

	_, shown := c.start("0:sleep 500\n0:fail x", 0)
	soon(t, "rank 1 is done", func() bool {
		infos, err := c.Ranks(context.Background())
		return err == nil && infos[1].State == "idle"
	})
	relay.Cut()
	time.Sleep(limit / 2)
	relay.Mend()
	c.want(shown(), "! [0] panic in:2: x\n")
	c.want(c.eval("gather x\nget x"), "= [0,1] 7\n")
	c.Close()
	if err := receive(t, "rank 1 ends", ended); err != nil {
		t.Error(err)
	}
}

// A host becomes silent: the session names its rank as lost, waits for the rank end, the other
// ranks go on, and the rank's supervisor ends.
func TestHostVanishes(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	const limit = 2 * time.Second
	address := freeAddress(t)
	relay := relaytest.Start(t, address)
	at := func(address string) session.Config { return session.Config{Rendezvous: address, Heartbeat: limit} }
	place := func(r int) Launcher { return Launcher{Name: "mpirun", Rank: r, Size: 3, LocalRank: r} }
	ended := []chan error{nil, make(chan error, 1), make(chan error, 1)}
	for r, address := range []string{1: address, 2: relay.Address} {
		if r > 0 {
			go func() {
				_, err := Join(context.Background(), place(r), at(address))
				ended[r] <- err
			}()
		}
	}
	s, err := Join(context.Background(), place(0), at(address))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &console{Session: s, t: t, size: 3, c: s.(*controller)}
	time.Sleep(2 * limit) // with nothing to say
	c.want(c.eval("gather x"), "= [0-2] 012\n")

	_, shown := c.start("2:sleep 3600000\ngather x", 0, 1, 2)
	relay.Cut()
	cut := time.Now()
	said := shown()
	if d := time.Since(cut); d < limit*8/10 {
		t.Errorf("the cell ended after %v", d)
	} else {
		t.Logf("with a limit of %v, the loss was noticed and the cell was over after %v", limit, d.Round(time.Millisecond))
	}
	host, _ := os.Hostname()
	why := "its host " + host + " is silent: no heartbeat for 2s"
	if want := "! [2] died the worker was lost: " + why +
		" (start the session again)\n! [0,1] peer in:2: Gather x: rank 2 was lost: " + why + "\n"; !strings.HasSuffix(said, want) {
		t.Errorf("%s, want at the end\n%s", said, want)
	}
	if err := receive(t, "rank 2 ends", ended[2]); err == nil || err.Error() != "rank 0 is gone: no heartbeat for 2s" {
		t.Error(err)
	}

	c.want(c.eval("value x"), "! [2] died rank 2 has no worker: "+why+" (start the session again)\n")
	c.want(c.eval("1:print RANK", 0, 1), "[1] 1\n")
	c.want(c.eval("print Survivors("), "[0,1] Survivors(\n") // from here on "all" means the remaining ranks
	c.want(c.eval("1:kill 9"), "note [1] rank 1 was killed (SIGKILL): a fresh worker took over, variables are lost there (`:restart replay` runs the cells again)\n"+
		"note [0,1] lost: symmetric memory of rank 1\n! [1] died the worker was killed (SIGKILL) (a fresh one takes its place)\n")
	c.want(c.eval("value x"), "= [0,1] x\n")
	c.want(c.eval("gather x", 0, 1), "! [0,1] peer in:1: Gather x: rank 2 was lost: "+why+"\n")
	infos, err := c.Ranks(context.Background())
	if err != nil || infos[1].State != "idle" || infos[2].State != "dead" {
		t.Errorf("%+v, %v", infos, err)
	}
	c.Close()
	if err := receive(t, "rank 1 ends", ended[1]); err != nil {
		t.Error(err)
	}
}
