package symmem

import (
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
)

// NetworkState describes a rank's end of the network between hosts.
type NetworkState struct {
	Name    string            // "the null network, delay 200µs, reorder on"; empty if there is none
	Why     string            // why there is none; empty if all ranks are on one host
	Peers   []NetworkPeer     // on other hosts
	Refused map[string]uint64 // messages that failed a check, by reason
}

// NetworkPeer is the state of a rank on another host, as this rank's engine knows it. Counts begin
// when the world is built or recovered.
type NetworkPeer struct {
	Rank, Host                     int
	State                          string // "connected", or "lost: connection reset"
	BytesSent, BytesReceived       uint64
	MessagesSent, MessagesReceived uint64
	InFlight                       uint64 // messages to it that are not over
}

// Network describes this rank's end of the network between hosts.
func (rt *Runtime) Network() NetworkState {
	rt.refuseClosed("Network")
	n := rt.net.Load()
	if n == nil {
		if why := rt.noNetwork.Load(); why != nil {
			return NetworkState{Why: *why}
		}
		return NetworkState{}
	}
	rt.mu.Lock()
	s := NetworkState{Name: n.String(), Refused: n.Engine.Refused()}
	rt.mu.Unlock()
	for _, p := range n.Engine.Peers() {
		if rt.partOf(p.Rank) == rt.partOf(rt.rank) {
			continue
		}
		state := p.State.String()
		if p.Why != "" {
			state += ": " + p.Why
		}
		s.Peers = append(s.Peers, NetworkPeer{
			Rank: p.Rank, Host: rt.hostOf(p.Rank), State: state, BytesSent: p.BytesSent, BytesReceived: p.BytesReceived,
			MessagesSent: p.MessagesSent, MessagesReceived: p.MessagesReceived, InFlight: p.InFlight,
		})
	}
	return s
}

// TuneNetwork changes how the null network treats the messages that this rank sends from now on:
// "delay 200us reorder on". Settings that are not named stay; "off" puts all of them back.
//
// Errors: KindMisuse for unknown settings, and if another network or none is in use.
func (rt *Runtime) TuneNetwork(settings string) error {
	const op = "TuneNetwork"
	rt.refuseClosed(op)
	n := rt.net.Load()
	if n == nil {
		why := "all ranks are on one host"
		if w := rt.noNetwork.Load(); w != nil {
			why = *w
		}
		return rt.misuse(op, "", "start the session with --hosts 2 --net null", "there is no network: %s", why)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	next, err := networks.Tuned(n.Settings, strings.Fields(settings))
	if err == nil {
		n.Settings, next = next, n.Settings
		if err = rt.tune(n); err != nil {
			n.Settings = next
		}
	}
	if err != nil {
		return rt.misuse(op, "settings", "", "%v", err)
	}
	return nil
}

// tune gives the null network its settings, and a seed of the sanitizer while it is on. rt.mu is held.
func (rt *Runtime) tune(n *networks.Network) error {
	seed := rt.sanitizer.Seed()
	if !rt.sanitizer.On() {
		seed = 0
	}
	return n.Tune(seed)
}
