package session

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
)

const testToken = "0123456789abcdef0123456789abcdef"

// joinAll plays every process of a launcher's job in this one, and returns rank 0's session and a channel
// with how the others ended.
func joinAll(t *testing.T, size int, launcher func(rank int) Launcher, config Config) (*console, chan error) {
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
	base, _ := launcher.BaseDir()
	if left := sessionPaths(base); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestJoinOneHost(t *testing.T) {
	runtimeDir(t)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "torchrun", Rank: r, Size: 3, LocalRank: r, LocalSize: 3, Port: 29500}
	}, Config{})
	exercise(t, c, ended)
}

func TestJoinTLS(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "mpirun", Rank: r, Size: 3, LocalRank: r}
	}, Config{Rendezvous: freeAddress(t)})
	exercise(t, c, ended)
}

// torchrun's agent listens at MASTER_PORT itself; rank 0 says there where it is.
func TestJoinThroughStore(t *testing.T) {
	runtimeDir(t)
	writeToken(t, testToken)
	host, port := startStore(t)
	c, ended := joinAll(t, 3, func(r int) Launcher {
		return Launcher{Name: "torchrun", Rank: r, Size: 3, LocalRank: r, Address: host, Port: port, Job: "job/0", Store: true}
	}, Config{})
	exercise(t, c, ended)
}

// writeToken puts a token where the user's configuration is.
func writeToken(t *testing.T, token string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv(tokenVariable, "")
	dir := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "symmrepl")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freeAddress returns one at which nobody listens, of a port that the kernel gives to nobody who does not ask for it.
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

// startStore is a key-value store as torchrun's agent has one, as far as is asked of it.
func startStore(t *testing.T) (string, int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &fakeStore{values: map[string]string{}, changed: sync.NewCond(&sync.Mutex{})}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	a := l.Addr().(*net.TCPAddr)
	return a.IP.String(), a.Port
}

type fakeStore struct {
	changed *sync.Cond
	values  map[string]string
}

func (s *fakeStore) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	// A server of this kind wants the whole of its first message at once.
	in.Peek(1)
	if hello, _ := in.Peek(in.Buffered()); len(hello) < 5 || hello[0] != 0 || binary.LittleEndian.Uint32(hello[1:]) != 0x3C85F7CE {
		return
	}
	in.Discard(5)
	for {
		query, err := in.ReadByte()
		if err != nil {
			return
		}
		if query == storeWait {
			io.CopyN(io.Discard, in, 8)
		}
		key, _ := readString(in)
		s.changed.L.Lock()
		switch query {
		case storeSet:
			s.values[key], _ = readString(in)
			s.changed.Broadcast()
		case storeWait:
			for s.values[key] == "" {
				s.changed.Wait()
			}
			conn.Write([]byte{storeStopped})
		case storeGet:
			conn.Write(appendString(nil, s.values[key]))
		}
		s.changed.L.Unlock()
	}
}

func TestStore(t *testing.T) {
	host, port := startStore(t)
	address := net.JoinHostPort(host, strconv.Itoa(port))
	a, err := dialStore(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	got := make(chan string)
	go func() {
		b, err := dialStore(context.Background(), address)
		if err != nil {
			got <- err.Error()
			return
		}
		defer b.close()
		v, err := b.wait(context.Background(), "key")
		got <- fmt.Sprint(v, err)
	}()
	if err := a.set("key", "value of key"); err != nil {
		t.Fatal(err)
	}
	if v := receive(t, "the value", got); v != "value of key<nil>" {
		t.Error(v)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.wait(ctx, "other"); err != context.DeadlineExceeded {
		t.Error(err)
	}
	if _, err := readString(strings.NewReader("\xff\xff\xff\xff\xff\xff\xff\xff")); err == nil {
		t.Error("a value of 2^64-1 bytes")
	}
}

func FuzzStoreString(f *testing.F) {
	f.Add(appendString(nil, "value"))
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := readString(strings.NewReader(string(in)))
		if err == nil && string(appendString(nil, v)) != string(in[:8+len(v)]) {
			t.Fatalf("%q from %q", v, in)
		}
	})
}

// Whoever does not know the token gets no further than the handshake, on either side.
func TestTLSRefusals(t *testing.T) {
	good, err := tlsConfig(testToken)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tlsConfig(strings.ToUpper(testToken))
	if err != nil {
		t.Fatal(err)
	}
	nobody := &tls.Config{InsecureSkipVerify: true}
	old := good.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	trusting := other.Clone()
	trusting.VerifyConnection = nil
	for _, c := range []struct {
		name           string
		server, client *tls.Config
		ok             bool
	}{
		{"the same token", good, good, true},
		{"another token", good, other, false},
		{"another token, server not verified", good, trusting, false},
		{"a server with another token", trusting, good, false},
		{"no certificate", good, nobody, false},
		{"TLS 1.2", good, old, false},
	} {
		l, err := tls.Listen("tcp", "127.0.0.1:0", c.server)
		if err != nil {
			t.Fatal(err)
		}
		reached := make(chan bool, 1)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			n, _ := conn.Read(make([]byte, 4))
			reached <- n == 4
			conn.Write([]byte("back"))
		}()
		answered := false
		if conn, err := tls.Dial("tcp", l.Addr().String(), c.client); err == nil {
			conn.Write([]byte("data"))
			_, err := io.ReadFull(conn, make([]byte, 4))
			answered = err == nil
			conn.Close()
		}
		if got := receive(t, "what reached the server", reached); got != c.ok || answered != c.ok {
			t.Errorf("%s: server reached %v, client answered %v", c.name, got, answered)
		}
		l.Close()
	}
}

func TestJoinRefusals(t *testing.T) {
	runtimeDir(t)
	join := func(l Launcher, config Config) error {
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
	t.Setenv(tokenVariable, "")
	wants("no token", join(far, Config{}), "need a shared secret: set SYMMREPL_TOKEN")
	t.Setenv(tokenVariable, "short")
	wants("short token", join(far, Config{}), "has 5 characters; at least 32")
	if os.Getenv(tokenVariable) != "" {
		t.Error("the token is still in the environment")
	}
	writeToken(t, testToken)
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "symmrepl", "token")
	os.Chmod(path, 0o644)
	wants("token for all to read", join(far, Config{}), "can be read by others")
	os.Chmod(path, 0o600)
	wants("nowhere", join(Launcher{Name: "mpirun", Rank: 1, Size: 2}, Config{}), "mpirun does not say where rank 0 is: set MASTER_ADDR and MASTER_PORT, or give --rdzv host:port")
	wants("no port", join(far, Config{Rendezvous: "host"}), "--rdzv host: it is host:port of rank 0")
	wants("nobody there", join(far, Config{}), "rank 1 cannot join rank 0 at 127.0.0.1:1")

	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	lead := Launcher{Name: "mpirun", Rank: 0, Size: 2, Address: "127.0.0.1", Port: taken.Addr().(*net.TCPAddr).Port}
	wants("port taken", join(lead, Config{}), "address already in use (give another with --rdzv host:port)")
	_, free, _ := net.SplitHostPort(freeAddress(t))
	lead.Port, _ = strconv.Atoi(free)
	wants("alone", join(lead, Config{}), "rank 1 did not come at 127.0.0.1:"+free)

	wrong, err := tlsConfig(strings.ToUpper(testToken))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitAtMost)
	ended := make(chan error)
	go func() {
		_, err := Join(ctx, lead, Config{})
		ended <- err
	}()
	other := &place{address: "127.0.0.1:" + free, tls: wrong}
	_, _, err = other.join(ctx, joinHello{wireVersion, 1, 2, 0})
	wants("wrong token", err, "the other end does not know this session's token: is SYMMREPL_TOKEN the same on all hosts?")
	trusting := wrong.Clone()
	trusting.VerifyConnection = nil
	other.tls = trusting
	_, _, err = other.join(ctx, joinHello{wireVersion, 1, 2, 0})
	wants("wrong token, to the server", err, "is SYMMREPL_TOKEN the same on all hosts?")
	right, _ := tlsConfig(testToken)
	other.tls = right
	for _, h := range []struct {
		hello joinHello
		want  string
	}{
		{joinHello{wireVersion + 1, 1, 2, 0}, fmt.Sprintf("rank 0 runs another version of symmrepl (protocol %d, not %d)", wireVersion, wireVersion+1)},
		{joinHello{wireVersion, 1, 3, 0}, "rank 0 is in a world of 2 ranks, not 3"},
		{joinHello{wireVersion, 0, 2, 0}, "rank 0 cannot join a world of 2"},
		{joinHello{wireVersion, 1, 2, 5}, "rank 1 speaks for worker 5, not the current 0"},
	} {
		_, _, err := other.join(ctx, h.hello)
		wants("hello", err, h.want)
	}
	cancel()
	wants("none of them", receive(t, "rank 0 gives up", ended), "rank 1 did not come at 127.0.0.1:"+free+", but somebody with another token did: is SYMMREPL_TOKEN the same on all hosts?")
}

// FuzzAdmit feeds the controller whatever a connection may bring.
func FuzzAdmit(f *testing.F) {
	one, _ := frame.Append(nil, joinHello{wireVersion, 1, 2, 0}, nil)
	f.Add(one)
	two, _ := frame.Append(one, event{Output: Stdout}, []byte("x\n"))
	three, _ := frame.Append(two, event{Done: &doneEvent{}}, nil)
	f.Add(three)
	f.Fuzz(func(t *testing.T, in []byte) {
		c := newController(Config{}, 2, nil)
		defer c.spawner.close()
		a, b := net.Pipe()
		go func() { b.Write(in); b.Close() }()
		go io.Copy(io.Discard, b)
		c.admit(a)
		a.Close()
	})
}
