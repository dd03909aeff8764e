package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/internal/bootstrap/frame"
	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
)

// place is where the ranks of one world meet, known to each from its launcher alone. In order of preference:
// the address that the user gave; on one host a Unix socket; the address that rank 0 puts into the launcher's
// store; rank 0's MASTER_PORT.
type place struct {
	socket  string      // path of a Unix socket, or
	address string      // host:port of rank 0, or
	store   string      // host:port of a store that knows
	key     string      // in the store
	tls     *tls.Config // unless it is a Unix socket
}

func newPlace(l Launcher, config Config) (*place, error) {
	p := &place{}
	master := net.JoinHostPort(l.Address, strconv.Itoa(l.Port))
	switch {
	case config.Rendezvous != "":
		if _, _, err := net.SplitHostPort(config.Rendezvous); err != nil {
			return nil, fmt.Errorf("--rdzv %s: it is host:port of rank 0 (%w)", config.Rendezvous, err)
		}
		p.address = config.Rendezvous
	case l.OneHost():
		base, err := launcher.BaseDir()
		if err != nil {
			return nil, err
		}
		p.socket = filepath.Join(base, meetingPrefix+l.Key())
		return p, nil
	case l.Address == "" || l.Port == 0:
		return nil, fmt.Errorf("%s does not say where rank 0 is: set MASTER_ADDR and MASTER_PORT, or give --rdzv host:port", l.Name)
	case l.Store:
		p.store, p.key = master, "/symmrepl/"+l.Job+"/addr"
	default:
		p.address = master
	}
	token, err := readToken()
	if err != nil {
		return nil, err
	}
	p.tls, err = tlsConfig(token)
	return p, err
}

func (p *place) String() string {
	switch {
	case p.socket != "":
		return p.socket
	case p.store != "":
		return "the address in the store of " + p.store
	}
	return p.address
}

// listen is rank 0's.
func (p *place) listen(ctx context.Context) (net.Listener, error) {
	if p.socket != "" {
		return launcher.Listen(p.socket)
	}
	port := "0"
	if p.address != "" {
		_, port, _ = net.SplitHostPort(p.address)
	}
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen for the others: %w (give another with --rdzv host:port)", err)
	}
	if p.store != "" {
		if err := publish(ctx, p.store, p.key, l.Addr().(*net.TCPAddr).Port); err != nil {
			l.Close()
			return nil, fmt.Errorf("the launcher's store at %s: %w (give rank 0's address with --rdzv host:port)", p.store, err)
		}
	}
	return tls.NewListener(l, p.tls), nil
}

// publish puts the addresses at which this host can be reached into the launcher's store.
func publish(ctx context.Context, store, key string, port int) error {
	s, err := dialStore(ctx, store)
	if err != nil {
		return err
	}
	defer s.close()
	var list []string
	if name, err := os.Hostname(); err == nil {
		list = append(list, net.JoinHostPort(name, strconv.Itoa(port)))
	}
	addresses, _ := net.InterfaceAddrs()
	for _, loopback := range []bool{false, true} {
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsLoopback() == loopback && !n.IP.IsLinkLocalUnicast() {
				list = append(list, net.JoinHostPort(n.IP.String(), strconv.Itoa(port)))
			}
		}
	}
	if err := s.set(key, strings.Join(list, " ")); err != nil {
		return err
	}
	_, err = s.wait(ctx, key) // only an answer shows that it has arrived
	return err
}

// addresses returns where rank 0 may be.
func (p *place) addresses(ctx context.Context) ([]string, error) {
	if p.store == "" {
		return []string{p.address}, nil
	}
	s, err := dialStore(ctx, p.store)
	if err != nil {
		return nil, err
	}
	defer s.close()
	list, err := s.wait(ctx, p.key)
	return strings.Fields(list), err
}

// join connects with rank 0, trying again until ctx ends, and introduces itself.
func (p *place) join(ctx context.Context, h joinHello) (net.Conn, *frame.Reader, error) {
	for {
		conn, err := p.dial(ctx)
		if err == nil {
			in, err := greet(conn, h)
			if err != nil {
				conn.Close()
				return nil, nil, explain(err)
			}
			return conn, in, nil
		}
		if errors.Is(err, errStranger) {
			return nil, nil, explain(err)
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(dialEvery):
		}
	}
}

// found is the place once a connection has shown where it is.
func (p *place) found(conn net.Conn) *place {
	if p.socket != "" {
		return p
	}
	return &place{address: conn.RemoteAddr().String(), tls: p.tls}
}

// explain says what a failed handshake means.
func explain(err error) error {
	if stranger(err) {
		return fmt.Errorf("%w: is %s the same on all hosts?", err, tokenVariable)
	}
	return err
}

// stranger reports whether a handshake failed because the two ends have different tokens. The one that notices
// first answers with an alert.
func stranger(err error) bool {
	var alert *net.OpError
	return errors.Is(err, errStranger) || (errors.As(err, &alert) && alert.Op == "remote error")
}

// dial makes one attempt at each address.
func (p *place) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if p.socket != "" {
		conn, err := d.DialContext(ctx, "unix", p.socket)
		if err == nil {
			if err = bootstrap.SameUser(conn.(*net.UnixConn)); err != nil {
				conn.Close()
			}
		}
		return conn, err
	}
	list, err := p.addresses(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range list {
		attempt, cancel := context.WithTimeout(ctx, handshakeTimeout)
		t := tls.Dialer{Config: p.tls}
		conn, err := t.DialContext(attempt, "tcp", a)
		cancel()
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil {
		failed = errors.New("no address of rank 0 is known")
	}
	return nil, failed
}

// greet says who this is, and hears whether that is welcome.
func greet(conn net.Conn, h joinHello) (*frame.Reader, error) {
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	in := frame.NewReader(conn, maxPayload)
	if err := frame.NewWriter(conn).Write(h, nil); err != nil {
		return nil, err
	}
	var w joinWelcome
	if _, err := in.Read(&w); err != nil {
		return nil, err
	}
	if w.Refused != "" {
		return nil, errors.New(w.Refused)
	}
	return in, conn.SetDeadline(time.Time{})
}
