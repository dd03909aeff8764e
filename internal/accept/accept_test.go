package accept

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// flaky is a listener that fails with errors before each of its connections.
type flaky struct {
	net.Listener
	errs []error
}

func (f *flaky) Accept() (net.Conn, error) {
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	return f.Listener.Accept()
}

// greet serves connections that say hello first.
func greet(conn net.Conn, known func()) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || line != "hello\n" {
		return
	}
	known()
	io.WriteString(conn, "welcome\n")
	io.Copy(io.Discard, in)
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

func welcomed(t *testing.T, conn net.Conn) {
	t.Helper()
	io.WriteString(conn, "hello\n")
	if got, err := bufio.NewReader(conn).ReadString('\n'); got != "welcome\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// A Loop survives errors, bounds strangers in number and time, and ends with its listener.
func TestLoop(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Loop{Listener: &flaky{tcp, []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS}}, Strangers: 2,
		Patience: time.Minute, Serve: greet}
	over := make(chan struct{})
	go func() { l.Run(); close(over) }()
	welcome := dial(t, tcp)
	welcomed(t, welcome)
	first := dial(t, tcp)
	dial(t, tcp)
	dial(t, tcp)
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the oldest stranger is not closed: %v", err)
	}
	if dropped, failed := l.Trouble(); failed != syscall.ENOBUFS || dropped != 1 {
		t.Errorf("%v, %d dropped", failed, dropped)
	}
	welcomed(t, dial(t, tcp))
	io.WriteString(welcome, "still here\n")
	welcome.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := welcome.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("a known connection is closed: %v", err)
	}
	tcp.Close()
	<-over
}

// A stranger that stays silent is closed.
func TestPatience(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	go (&Loop{Listener: tcp, Strangers: 2, Patience: 10 * time.Millisecond, Serve: greet}).Run()
	if _, err := dial(t, tcp).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
