package rendezvous

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/bootstrap/launcher"
	"github.com/symmrepl/symmrepl/internal/bootstrap/userdir"
)

// Kind is the kind of processes that meet. A session and a program of the same job meet at
// different places.
type Kind string

const (
	Session Kind = "j"
	Program Kind = "p"
	Host    Kind = "h" // the ranks of a session on one host, which meet the first of them
)

// Place is the place at which the ranks of one world meet. Exactly one of socket, address and store
// is set.
type Place struct {
	socket  string      // path of a Unix socket
	address string      // host:port of rank 0
	store   string      // host:port of the launcher's store, which holds rank 0's addresses
	key     string      // key of these addresses in the store
	tls     *tls.Config // nil for a Unix socket
	hint    string      // advice for ranks that wait for each other in vain
}

// Find returns the place for the world of l. In order of preference it is: address, the host:port
// that the user gave for rank 0; a Unix socket, if all ranks are on one host; the address that rank
// 0 puts into the launcher's store; rank 0's MASTER_PORT. All but the Unix socket need the user's
// token, which Find removes from the environment in any case.
func Find(l launcher.Launcher, kind Kind, address string) (*Place, error) {
	p, token := &Place{}, TakeToken()
	master := net.JoinHostPort(l.Address, strconv.Itoa(l.Port))
	switch {
	case address != "":
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, fmt.Errorf("--rdzv %s: it is host:port of rank 0 (%w)", address, err)
		}
		p.address = address
	case l.OneHost():
		return OnHost(l, kind)
	case l.Address == "" || l.Port == 0:
		return nil, fmt.Errorf("%s does not say where rank 0 is: set MASTER_ADDR and MASTER_PORT, or give --rdzv host:port", l.Name)
	case l.Store:
		p.store, p.key = master, "/symmrepl/"+l.Job+"/addr"
	default:
		p.address = master
	}
	token, err := checkToken(token)
	if err != nil && l.LocalSize == 0 && address == "" {
		return nil, fmt.Errorf("LOCAL_WORLD_SIZE is not set: LOCAL_WORLD_SIZE=%d says that all ranks are on this host; %w", l.Size, err)
	}
	if err != nil {
		return nil, err
	}
	p.tls, err = tlsConfig(token)
	return p, err
}

// OnHost returns the place for a world whose ranks are all on this host.
func OnHost(l launcher.Launcher, kind Kind) (*Place, error) {
	base, err := userdir.Base()
	if err != nil {
		return nil, err
	}
	p := &Place{socket: filepath.Join(base, string(kind)+l.Key())}
	if !l.Named() {
		p.hint = "; ranks that are started from several shells need the same MASTER_PORT"
	}
	return p, nil
}

// String describes the place in messages.
func (p *Place) String() string {
	switch {
	case p.socket != "":
		return p.socket
	case p.store != "":
		return "the address in the store of " + p.store
	}
	return p.address
}

// described returns String with advice for ranks that wait there in vain.
func (p *Place) described() string { return p.String() + p.hint }

// listen opens rank 0's listener for the other ranks.
func (p *Place) listen(ctx context.Context) (net.Listener, error) {
	if p.socket != "" {
		l, err := userdir.Listen(p.socket)
		if errors.Is(err, userdir.ErrInUse) {
			return nil, fmt.Errorf("another rank 0 listens at %s", p.socket)
		}
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	host, port := p.local(), "0"
	if p.address != "" {
		_, port, _ = net.SplitHostPort(p.address)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen for the others: %w (give another with --rdzv host:port)", err)
	}
	if p.store != "" {
		if err := publish(ctx, p.store, p.key, reachable(host, l.Addr().(*net.TCPAddr).Port)); err != nil {
			l.Close()
			return nil, fmt.Errorf("the launcher's store at %s: %w (give rank 0's address with --rdzv host:port)", p.store, err)
		}
	}
	return tls.NewListener(l, p.tls), nil
}

// local returns the host name or address of the place if only this host can reach it, such as
// 127.0.0.1: other hosts must then not reach the listener. Otherwise it returns "".
func (p *Place) local() string {
	host, _, _ := net.SplitHostPort(cmp.Or(p.address, p.store))
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return host
	}
	return ""
}

// reachable lists the addresses at which a listener on host, or on all of this host's addresses if
// host is "", can be reached.
func reachable(host string, port int) []string {
	if host != "" {
		return []string{net.JoinHostPort(host, strconv.Itoa(port))}
	}
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
	return list
}

// publish puts addresses into the launcher's store.
func publish(ctx context.Context, store, key string, list []string) error {
	s, err := dialStore(ctx, store)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.set(key, strings.Join(list, " ")); err != nil {
		return err
	}
	_, err = s.wait(ctx, key) // only an answer shows that the value has arrived
	return err
}

// dial makes one attempt at each possible address of rank 0.
func (p *Place) dial(ctx context.Context) (net.Conn, error) {
	if p.socket != "" {
		conn, err := userdir.Dial(ctx, p.socket)
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
	list, err := p.addresses(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range list {
		attempt, cancel := context.WithTimeout(ctx, HandshakeTimeout)
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

// addresses returns the possible addresses of rank 0.
func (p *Place) addresses(ctx context.Context) ([]string, error) {
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

// reached returns the place at the address of conn, a connection to rank 0: later connections need
// no store.
func (p *Place) reached(conn net.Conn) *Place {
	if p.socket != "" {
		return p
	}
	return &Place{address: conn.RemoteAddr().String(), tls: p.tls}
}
