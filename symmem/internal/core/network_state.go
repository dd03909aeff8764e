package symmem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// NetworkState is a rank's end of what carries operations between hosts.
type NetworkState struct {
	Name    string            // "null, delay 200µs, reorder"; empty if there is none
	Why     string            // there is none, in words; empty if all ranks are on one host
	Peers   []NetworkPeer     // on other hosts
	Refused map[string]uint64 // messages that failed a check, by reason
}

// NetworkPeer is what a rank's engine knows of a rank on another host. Counts are of the time since the world was built, or last recovered.
type NetworkPeer struct {
	Rank, Host                     int
	State                          string // "connected", or "lost: connection reset"
	BytesSent, BytesReceived       uint64
	MessagesSent, MessagesReceived uint64
	InFlight                       uint64 // messages to it that are not over
}

// Network describes this rank's end of what carries operations between hosts.
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
	s := NetworkState{Name: n.name + describeNull(n.settings), Refused: n.engine.Refused()}
	rt.mu.Unlock()
	for _, p := range n.engine.Peers() {
		if rt.hostOf(p.Rank) == rt.hostOf(rt.rank) {
			continue
		}
		state := p.State.String()
		if p.Why != "" {
			state += ": " + p.Why
		}
		s.Peers = append(s.Peers, NetworkPeer{p.Rank, rt.hostOf(p.Rank), state, p.BytesSent, p.BytesReceived, p.MessagesSent, p.MessagesReceived, p.InFlight})
	}
	return s
}

// TuneNetwork changes what the null network does to the messages that this rank sends from now on: "delay 200us reorder on".
// Settings that are not named stay; "off" puts all of them back.
//
// Errors: KindMisuse for settings that are none, and where another network or none is in use.
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
	next, err := tuned(n.settings, strings.Fields(settings))
	if err == nil {
		err = n.engine.SetNull(next)
	}
	if err != nil {
		return rt.misuse(op, "settings", "", "%v", err)
	}
	n.settings = next
	return nil
}

// checkChoice refuses the name of a network that there is not, and settings that it does not have.
func (rt *Runtime) checkChoice(op string) {
	words := strings.Fields(rt.choice)
	switch {
	case rt.choice == "":
		return
	case len(words) == 1 && (words[0] == "ucx" || words[0] == noChoice):
		return
	case len(words) > 0 && words[0] == "null":
		if _, err := tuned(net.NullSettings{}, words[1:]); err != nil {
			panic(rt.misuse(op, "Network", "", "%v", err))
		}
		return
	}
	panic(rt.misuse(op, "Network", "leave it out for ucx", "the network must be ucx, null or none, not %q", rt.choice))
}

// tuned changes settings of the null network by names and values: "delay 200us reorder on", or "delay=200us reorder=on".
func tuned(s net.NullSettings, words []string) (net.NullSettings, error) {
	words = strings.Fields(strings.ReplaceAll(strings.Join(words, " "), "=", " "))
	if len(words) == 1 && words[0] == "off" {
		return net.NullSettings{}, nil
	}
	for ; len(words) > 0; words = words[2:] {
		name, value := words[0], ""
		if len(words) > 1 {
			value = words[1]
		}
		var err error
		switch name {
		case "delay":
			s.Delay, err = time.ParseDuration(value)
			if err == nil && s.Delay < 0 {
				err = errors.New("it is negative")
			}
		case "bandwidth":
			s.Bandwidth, err = number(value, 1e15)
		case "drop":
			s.Drop, err = number(value, 1)
		case "seed":
			s.Seed, err = strconv.ParseUint(value, 10, 64)
		case "reorder":
			s.Reorder = value == "on"
			if value != "on" && value != "off" {
				err = errors.New("on or off is needed")
			}
		default:
			return s, fmt.Errorf("the null network has no setting %q: there are delay 200us, bandwidth 1e9 (bytes a second), reorder on, drop 0.01 and seed 7", name)
		}
		if err != nil {
			return s, fmt.Errorf("setting %s of the null network cannot be %q: %w", name, value, err)
		}
		if len(words) == 1 {
			break
		}
	}
	return s, nil
}

// number reads a number from 0 to most.
func number(text string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && !(v >= 0 && v <= most) {
		err = fmt.Errorf("it must be in [0, %g]", most)
	}
	return v, err
}

// describeNull writes settings that differ from none: ", delay 200µs, reorder on".
func describeNull(s net.NullSettings) string {
	var b strings.Builder
	for _, v := range []struct {
		set  bool
		text string
	}{
		{s.Delay > 0, fmt.Sprint("delay ", s.Delay)},
		{s.Bandwidth > 0, fmt.Sprintf("bandwidth %g", s.Bandwidth)},
		{s.Reorder, "reorder on"},
		{s.Drop > 0, fmt.Sprintf("drop %g", s.Drop)},
		{s.Seed > 0, fmt.Sprint("seed ", s.Seed)},
	} {
		if v.set {
			b.WriteString(", " + v.text)
		}
	}
	return b.String()
}
