package rendezvous

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/shortdir"
)

// limit bounds the waits of a test.
const limit = time.Minute

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// receive returns the next value from a channel; what describes the value.
func receive[T any](t testing.TB, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(limit):
		t.Fatalf("waited %v in vain: %s", limit, what)
	}
	return v
}

// onSocket is a meeting of size ranks at a Unix socket.
func onSocket(t testing.TB, size int) Meeting {
	return Meeting{Place: &Place{socket: filepath.Join(shortdir.New(t), "meet")}, Size: size, Version: 1, Payload: 16}
}

// Ranks that come before rank 0 wait for it; links carry frames both ways; a rank joins once, its
// workers several times.
func TestMeeting(t *testing.T) {
	ctx := bounded(t)
	m := onSocket(t, 3)
	links := make(chan *Link, 3)
	early := make(chan error)
	go func() {
		link, err := m.Join(ctx, 2, 0)
		if err == nil {
			err = link.Out.Write("from rank 2", nil)
		}
		early <- err
	}()
	s, err := m.Serve(ctx, func(link *Link) (func(), string) {
		if link.Hello.Incarnation > 7 {
			return nil, "no such worker"
		}
		return func() { links <- link }, ""
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := receive(t, "rank 2 joins", early); err != nil {
		t.Fatal(err)
	}
	var said string
	link := receive(t, "the link of rank 2", links)
	if _, err := link.In.Read(&said); err != nil || said != "from rank 2" || link.Hello != (Hello{1, 2, 3, 0, ""}) {
		t.Errorf("%q from %+v, %v", said, link.Hello, err)
	}
	refused := func(want string, rank, incarnation int) {
		t.Helper()
		var e *RefusedError
		if _, err := m.Join(ctx, rank, incarnation); !errors.As(err, &e) || e.Why != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused("rank 2 has joined already", 2, 0)
	refused("no such worker", 2, 8)
	worker, err := m.Join(ctx, 2, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	if link := receive(t, "the link of a worker", links); link.Hello != (Hello{1, 2, 3, 7, ""}) {
		t.Errorf("%+v", link.Hello)
	}
	over, end := context.WithCancel(ctx)
	end()
	if missing := s.Wait(over); !reflect.DeepEqual(missing, []int{1}) {
		t.Errorf("ranks %v are missing", missing)
	}
	refused("rank 1 has come too late: rank 0 no longer waits", 1, 0)
	if _, err := m.Serve(ctx, nil); err == nil || !strings.Contains(err.Error(), "another rank 0 listens at "+m.Place.String()) {
		t.Error(err)
	}
}

// Wait returns when the last rank has been answered.
func TestAllCome(t *testing.T) {
	ctx := bounded(t)
	m := onSocket(t, 4)
	s, err := m.Serve(ctx, func(link *Link) (func(), string) { return func() {}, "" })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for r := 1; r < 4; r++ {
		go m.Join(ctx, r, 0)
	}
	if missing := s.Wait(ctx); missing != nil || s.Strangers() {
		t.Errorf("ranks %v are missing, strangers %v", missing, s.Strangers())
	}
}

// A rank that joins through another one counts like a rank that joins directly, and joins only
// once.
func TestThrough(t *testing.T) {
	ctx := bounded(t)
	m := onSocket(t, 4)
	s, err := m.Serve(ctx, func(link *Link) (func(), string) { return func() {}, "" })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go m.Join(ctx, 1, 0)
	admitted := 0
	through := func(rank int, want string) {
		t.Helper()
		if got := s.Through(rank, func() { admitted++ }); got != want {
			t.Errorf("rank %d: %q, want %q", rank, got, want)
		}
	}
	through(2, "")
	through(3, "")
	if missing := s.Wait(ctx); missing != nil {
		t.Errorf("ranks %v are missing", missing)
	}
	through(1, "rank 1 has joined already")
	through(3, "rank 3 has joined already")
	through(4, "rank 4 cannot join a world of 4")
	through(0, "rank 0 cannot join a world of 4")
	if admitted != 2 {
		t.Errorf("%d ranks were admitted", admitted)
	}
}

// Both ends explain a different token, whichever notices it first.
func TestStrangers(t *testing.T) {
	ctx := bounded(t)
	right, err := tlsConfig(testToken)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", right)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := Meeting{Size: 2, Version: 1}
	s := newServer(m, l, func(*Link) (func(), string) { return func() {}, "" })
	go s.loop.Run()
	wrong, _ := tlsConfig(strings.ToUpper(testToken))
	trusting := wrong.Clone()
	trusting.VerifyConnection = nil
	for _, config := range []*tls.Config{wrong, trusting} {
		m.Place = &Place{address: l.Addr().String(), tls: config}
		if _, err := m.Join(ctx, 1, 0); err == nil || !strings.Contains(err.Error(), "is SYMMREPL_TOKEN the same on all hosts?") {
			t.Error(err)
		}
	}
	for deadline := time.Now().Add(limit); !s.Strangers(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("rank 0 has not noticed")
		}
	}
}

// FuzzReceive feeds rank 0 arbitrary bytes from a connection.
func FuzzReceive(f *testing.F) {
	one, _ := frame.Append(nil, Hello{1, 1, 2, 0, ""}, nil)
	f.Add(one)
	two, _ := frame.Append(one, "more", []byte("x\n"))
	f.Add(two)
	f.Fuzz(func(t *testing.T, in []byte) {
		s := newServer(Meeting{Size: 2, Version: 1, Payload: 16}, nil, func(link *Link) (func(), string) {
			return func() {
				for {
					if _, err := link.In.Read(new(any)); err != nil {
						return
					}
				}
			}, ""
		})
		a, b := net.Pipe()
		go func() { b.Write(in); b.Close() }()
		go io.Copy(io.Discard, b)
		s.receive(a, func() {})
		a.Close()
	})
}
