package symmem

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// noChoice is the choice of a world that spans hosts without a network.
const noChoice = "none"

// memoryDirect is the setting of UCX by which it reads and writes the memory of GPUs itself.
const memoryDirect = "memory=direct"

// networkConfig is the engine that was chosen.
func (rt *Runtime) networkConfig(gate networkGate) (net.Config, net.NullSettings, error) {
	c := net.Config{Rank: rt.rank, Size: rt.size, Gate: gate.Secret, Signals: netSignals, CanRing: rt.info.OnHost}
	words := strings.Fields(cmp.Or(rt.choice, "ucx"))
	c.Provider = words[0]
	local := rt.places.Load().Machines == 1
	var settings net.NullSettings
	var err error
	switch {
	case c.Provider == noChoice:
		err = errors.New("none was chosen")
	case c.Provider == "null" && !local:
		err = errors.New("the null network connects ranks of one machine only")
	case c.Provider == "null":
		c.Dir = filepath.Join(rt.client.Dir(), "net")
		settings, err = tuned(settings, words[1:])
	case local:
		c.Interface, c.TLS = "lo", "tcp,self" // else UCX would find the memory that simulated hosts do not share
		if slices.Contains(words, memoryDirect) {
			c.TLS += ",cuda_copy"
		}
	case gate.Together && os.Getenv("UCX_NET_DEVICES") == "":
		c.Interface = "lo"
	default:
		c.Interface, err = networkInterface(rankZero(os.Environ()))
	}
	if err == nil {
		c.Copier, err = rt.dev.Copier()
	}
	if slices.Contains(words, memoryDirect) {
		c.Memory = net.DirectCUDA
	}
	return c, settings, err
}

// checkChoice refuses the name of a network that there is not, and settings that it does not have.
func (rt *Runtime) checkChoice(op string) {
	words := strings.Fields(rt.choice)
	switch {
	case rt.choice == "":
		return
	case len(words) == 1 && (words[0] == "ucx" || words[0] == noChoice):
		return
	case len(words) == 2 && words[0] == "ucx" && words[1] == memoryDirect:
		if rt.info.OnHost {
			panic(rt.misuse(op, "Network", "leave it out: all memory is the host's", "%s is for GPUs, not for the cpu device", memoryDirect))
		}
		return
	case len(words) > 0 && words[0] == "null":
		if _, err := tuned(net.NullSettings{}, words[1:]); err != nil {
			panic(rt.misuse(op, "Network", "", "%v", err))
		}
		return
	}
	panic(rt.misuse(op, "Network", "leave it out for ucx", "the network must be ucx, ucx memory=direct, null or none, not %q", rt.choice))
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
