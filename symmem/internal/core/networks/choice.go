package networks

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// Choice is a network by its name and settings, as the program or the session gives it: "null
// delay=1ms". The empty one is ucx.
type Choice string

// None is the choice of a world that spans hosts without a network.
const None Choice = "none"

// memoryDirect is the setting of UCX by which it reads and writes the memory of GPUs itself.
const memoryDirect = "memory=direct"

// Signals is the number of words behind the board: enough for about 150 groups with the usual
// signal pad.
const Signals = 1 << 20

// Place describes where a rank opens its engine.
type Place struct {
	Rank, Size int
	Gate       Gate
	Dir        string // of the null network's sockets
	OneMachine bool   // all ranks are on one machine
}

// words are the name and the settings.
func (c Choice) words() []string { return strings.Fields(cmp.Or(string(c), "ucx")) }

// config returns the configuration of the engine that was chosen, and the settings of the null
// network.
func (c Choice) config(at Place, dev device.Device) (config net.Config, settings net.NullSettings, err error) {
	config = net.Config{Rank: at.Rank, Size: at.Size, Gate: at.Gate.Secret, Signals: Signals, CanRing: dev.Info().OnHost}
	words := c.words()
	config.Provider = words[0]
	switch {
	case config.Provider == string(None):
		err = errors.New("none was chosen")
	case config.Provider == "null" && !at.OneMachine:
		err = errors.New("the null network connects ranks of one machine only")
	case config.Provider == "null":
		config.Dir = at.Dir
		settings, err = Tuned(settings, words[1:])
	case at.OneMachine:
		config.Interface, config.TLS = "lo", "tcp,self" // else UCX would find the memory that simulated hosts do not share
		if slices.Contains(words, memoryDirect) {
			config.TLS += ",cuda_copy"
		}
	case at.Gate.Together && os.Getenv("UCX_NET_DEVICES") == "":
		config.Interface = "lo"
	default:
		config.Interface, err = networkInterface(rankZero(os.Environ()))
	}
	if err == nil {
		config.Copier, err = dev.Copier()
	}
	if slices.Contains(words, memoryDirect) {
		config.Memory = net.DirectCUDA
	}
	return config, settings, err
}

// Refused returns the reason why no device can have the choice, and what to do instead; msg is ""
// if a device can. onHost reports whether the device's memory is the host's.
func (c Choice) Refused(onHost bool) (msg, hint string) {
	words := strings.Fields(string(c))
	switch {
	case c == "":
		return "", ""
	case len(words) == 1 && (words[0] == "ucx" || words[0] == string(None)):
		return "", ""
	case len(words) == 2 && words[0] == "ucx" && words[1] == memoryDirect:
		if onHost {
			return memoryDirect + " is for GPUs, not for the cpu device", "leave it out: all memory is the host's"
		}
		return "", ""
	case len(words) > 0 && words[0] == "null":
		if _, err := Tuned(net.NullSettings{}, words[1:]); err != nil {
			return err.Error(), ""
		}
		return "", ""
	}
	return fmt.Sprintf("the network must be ucx, ucx memory=direct, null or none, not %q", string(c)), "leave it out for ucx"
}

// Tuned changes settings of the null network by names and values: "delay 200us reorder on", or
// "delay=200us reorder=on".
func Tuned(s net.NullSettings, words []string) (net.NullSettings, error) {
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

// describe writes the settings that are not zero: ", delay 200µs, reorder on".
func describe(s net.NullSettings) string {
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
