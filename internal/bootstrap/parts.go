package bootstrap

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// PartsVariable is the environment variable with the simulated hosts of a world, in the form that
// ParseParts reads.
const PartsVariable = "SYMMREPL_HOSTS"

// Parts divides the ranks of a world among simulated hosts, each with the same number of
// consecutive ranks. Ranks of different parts share no files, and so no memory, although they are
// on one host. The zero Parts divides nothing.
type Parts struct{ ranks, hosts int }

// ParseParts reads a number of hosts, such as "2", or the ranks of each, such as "0-3/4-7" or
// "0,1/2,3", for a world of the given number of ranks. The error says why the ranks cannot be
// divided in this way. The empty text, and a single host, mean no division.
func ParseParts(text string, ranks int) (Parts, error) {
	text = strings.TrimSpace(text)
	hosts := 1
	var err error
	switch {
	case text == "":
	case strings.ContainsAny(text, "/,-"):
		hosts, err = listed(text, ranks)
	default:
		hosts, err = strconv.Atoi(text)
		switch {
		case err != nil || hosts < 1:
			err = errors.New("write a number of hosts, such as 2, or the ranks of each, such as 0-3/4-7")
		case ranks%hosts != 0:
			err = fmt.Errorf("%d ranks cannot be divided among %d hosts: each must have as many as the others", ranks, hosts)
		}
	}
	switch {
	case err != nil:
		return Parts{}, fmt.Errorf("hosts %q: %w", text, err)
	case hosts == 1:
		return Parts{}, nil
	}
	return Parts{ranks, hosts}, nil
}

// listed reads the ranks of each host and returns the number of hosts.
func listed(text string, ranks int) (int, error) {
	next, first := 0, 0
	list := strings.Split(text, "/")
	for i, host := range list {
		n := 0 // ranks of the host read so far
		for _, item := range strings.Split(host, ",") {
			low, high, err := rankRange(item)
			switch {
			case err != nil:
				return 0, err
			case low != next:
				return 0, fmt.Errorf("rank %d is expected, not %d: list the ranks in order, each once", next, low)
			case high >= ranks:
				return 0, fmt.Errorf("rank %d does not exist: ranks are 0 to %d", high, ranks-1)
			}
			n, next = n+high-low+1, high+1
		}
		if i == 0 {
			first = n
		}
		if n != first {
			return 0, fmt.Errorf("host %d has %d ranks and host 0 has %d: each must have as many as the others", i, n, first)
		}
	}
	if next != ranks {
		return 0, fmt.Errorf("rank %d has no host", next)
	}
	return len(list), nil
}

// rankRange reads "3" or "0-3".
func rankRange(text string) (low, high int, err error) {
	a, b, isRange := strings.Cut(strings.TrimSpace(text), "-")
	if !isRange {
		b = a
	}
	low, errA := strconv.Atoi(a)
	high, errB := strconv.Atoi(b)
	if errA != nil || errB != nil || low < 0 || high < low {
		return 0, 0, fmt.Errorf("%q is not a rank or a range of ranks such as 0-3", text)
	}
	return low, high, nil
}

// Hosts returns the number of hosts; 1 if the world is not divided.
func (p Parts) Hosts() int { return max(p.hosts, 1) }

// Of returns the number of a rank's host, from 0.
func (p Parts) Of(rank int) int {
	if p.hosts < 2 {
		return 0
	}
	return rank / (p.ranks / p.hosts)
}

// Name returns the name of a rank's host: "h0".
func (p Parts) Name(rank int) string { return fmt.Sprint("h", p.Of(rank)) }

// String returns the parts in the form that ParseParts reads: "0-3/4-7"; "" if the world is not
// divided.
func (p Parts) String() string {
	if p.hosts < 2 {
		return ""
	}
	each := p.ranks / p.hosts
	list := make([]string, p.hosts)
	for i := range list {
		list[i] = strconv.Itoa(i * each)
		if each > 1 {
			list[i] += fmt.Sprint("-", i*each+each-1)
		}
	}
	return strings.Join(list, "/")
}

// divide groups ascending ranks by host.
func (p Parts) divide(ranks []int) [][]int {
	var list [][]int
	for i, r := range ranks {
		if i == 0 || p.Of(r) != p.Of(ranks[i-1]) {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], r)
	}
	return list
}
