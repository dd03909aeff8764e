package heartbeat

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/heartbeat/relaytest"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 10 * time.Second, "off": 0, "3s": 3 * time.Second, "100ms": 100 * time.Millisecond} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "10", "-1s", "99ms", "never"} {
		if _, err := Parse(text); err == nil || err.Error() != "SYMMREPL_HEARTBEAT="+text+": a time of at least 100ms is expected, such as 10s, or off" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// throughRelay returns two ends of a connection through a relay.
func throughRelay(t *testing.T) (a, b *Conn, relay *relaytest.Relay) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	relay = relaytest.Start(t, l.Addr().String())
	dialled, err := net.Dial("tcp", relay.Address)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	a, b = New(dialled), New(accepted)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b, relay
}

// words reads frames in a goroutine and passes on their headers, and finally the error that ended
// the stream.
func words(c *Conn) <-chan any {
	said := make(chan any, 100)
	go func() {
		for in := frame.NewReader(c, 0); ; {
			var word string
			if _, err := in.Read(&word); err != nil {
				said <- err
				return
			}
			said <- word
		}
	}()
	return said
}

func next(t *testing.T, what string, said <-chan any) any {
	t.Helper()
	select {
	case v := <-said:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("waited a minute in vain: %s", what)
		return nil
	}
}

// An idle connection lives. If a connection no longer carries any bytes, both ends notice that.
func TestSilence(t *testing.T) {
	const limit = time.Second
	a, b, relay := throughRelay(t)
	a.Start(limit)
	b.Start(limit)
	fromA, fromB := words(b), words(a)
	time.Sleep(2 * limit)
	frame.NewWriter(a).Write("from a", nil)
	frame.NewWriter(b).Write("from b", nil)
	if x, y := next(t, "a word of a", fromA), next(t, "a word of b", fromB); x != "from a" || y != "from b" {
		t.Fatalf("%v, %v", x, y)
	}
	relay.Cut()
	cut := time.Now()
	for end, said := range map[string]<-chan any{"a": fromB, "b": fromA} {
		err, _ := next(t, "the end of "+end, said).(error)
		var silence *SilenceError
		if !errors.As(err, &silence) || err.Error() != "no heartbeat for 1s" {
			t.Errorf("%s: %v", end, err)
		}
		if d := time.Since(cut); d < limit*8/10 {
			t.Errorf("%s ended after %v", end, d)
		} else {
			t.Logf("%s noticed after %v", end, d.Round(time.Millisecond))
		}
	}
	if _, err := a.Write([]byte(frame.Beat)); !errors.As(err, new(*SilenceError)) {
		t.Errorf("a Write afterwards: %v", err)
	}
	relay.Mend()
}

// A pause shorter than the limit does no harm, and all frames sent meanwhile arrive.
func TestPause(t *testing.T) {
	const limit = 2 * time.Second
	a, b, relay := throughRelay(t)
	a.Start(limit)
	b.Start(limit)
	fromA, fromB := words(b), words(a)
	relay.Cut()
	frame.NewWriter(a).Write("meanwhile", nil)
	time.Sleep(limit / 2)
	relay.Mend()
	if v := next(t, "a word of a", fromA); v != "meanwhile" {
		t.Error(v)
	}
	frame.NewWriter(b).Write("afterwards", nil)
	if v := next(t, "a word of b", fromB); v != "afterwards" {
		t.Error(v)
	}
}

// An end that does not read because it is busy with earlier input does not count as missing beats.
func TestBusyReader(t *testing.T) {
	const limit = 300 * time.Millisecond
	a, b, _ := throughRelay(t)
	a.Start(limit)
	b.Start(limit)
	fromB := words(a)
	frame.NewWriter(a).Write("long", nil)
	in := frame.NewReader(b, 0)
	var word string
	for _, want := range []string{"long", "next"} {
		if _, err := in.Read(&word); err != nil || word != want {
			t.Fatalf("%q, %v, want %q", word, err, want)
		}
		time.Sleep(4 * limit)
		frame.NewWriter(a).Write("next", nil)
	}
	frame.NewWriter(b).Write("done", nil)
	if v := next(t, "a word of b", fromB); v != "done" {
		t.Error(v)
	}
}

// frozenVariable marks the process that the test starts and stops.
const frozenVariable = "SYMMREPL_TEST_FROZEN"

const frozenLimit = time.Second

// frozen connects to the test, reports that, and then echoes its input.
func frozen(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := New(conn)
	c.Start(frozenLimit)
	out, in := frame.NewWriter(c), frame.NewReader(c, 0)
	for word := "connected"; err == nil; _, err = in.Read(&word) {
		out.Write(word, nil)
	}
	fmt.Println("ended:", err)
}

// A process that was stopped for longer than the limit without any input, as when its machine was
// suspended, goes on.
func TestFrozen(t *testing.T) {
	if address := os.Getenv(frozenVariable); address != "" {
		frozen(address)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestFrozen$")
	cmd.Env = append(os.Environ(), frozenVariable+"="+l.Addr().String())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	out, in := frame.NewWriter(conn), frame.NewReader(conn, 0)
	hear := func(want string) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		var word string
		if _, err := in.Read(&word); err != nil || word != want {
			t.Fatalf("%q, %v, want %q", word, err, want)
		}
	}
	hear("connected")
	for range 3 {
		time.Sleep(frozenLimit / 4) // it listens
		cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(2 * frozenLimit)
		cmd.Process.Signal(syscall.SIGCONT)
		time.Sleep(frozenLimit / 4) // it checks before any input can arrive
		out.Write("still there", nil)
		hear("still there")
	}
	// The tolerance has limits: from now on this end is silent.
	silent := time.Now()
	said, _ := io.ReadAll(bufio.NewReader(stdout))
	if d := time.Since(silent); !strings.HasPrefix(string(said), "ended: no heartbeat for 1s\n") || d < frozenLimit*8/10 {
		t.Errorf("%s after %v", said, d)
	}
	cmd.Wait()
}
