package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// place identifies the directory in which a rank passes descriptors, so that another rank can tell
// whether it sees the same one.
type place struct {
	Boot          string // boot ID of the kernel that runs the rank
	Dir           string
	Device, Inode uint64 // of Dir
}

// placeOf returns the place of dir as this process sees it, zero if it does not see it.
func placeOf(dir string) place {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // sandboxes may lack the file; the directory alone then decides
	info, err := os.Stat(dir)
	if err != nil {
		return place{}
	}
	st := info.Sys().(*syscall.Stat_t)
	return place{strings.TrimSpace(string(boot)), dir, uint64(st.Dev), st.Ino}
}

// SeveralHostsError reports that the ranks of a world with simulated hosts are on several real
// hosts.
type SeveralHostsError struct {
	Parts Parts
	Hosts [][]int
}

func (e *SeveralHostsError) Error() string {
	return fmt.Sprintf("the hosts %s cannot be simulated: the ranks are on %d hosts already, %v", e.Parts, len(e.Hosts), e.Hosts)
}

// Hosts partitions the members of call.Group by host, or by simulated host if the world has
// simulated hosts: the members of one part can pass each other files. The parts hold world ranks
// and are ordered by their first ranks. Hosts is collective over the group, and all members get the
// same result. Errors are as in Gather, or a *SeveralHostsError. If ranks disagree about the
// simulated hosts, the error is a *MismatchError.
func (c *Client) Hosts(ctx context.Context, call Call) ([][]int, error) {
	if c.parts.Hosts() > 1 {
		call.Desc = fmt.Sprintf("%s, hosts %s", call.Desc, c.parts)
	}
	places, err := gatherAs[place](ctx, c, call, placeOf(c.dir))
	if err != nil {
		return nil, err
	}
	var reached []int
	for i, peer := range call.Group {
		if p := places[i]; peer == c.rank || p != (place{}) && p == placeOf(p.Dir) {
			reached = append(reached, peer)
		}
	}
	second := call
	second.Key += "/reached"
	lists, err := gatherAs[[]int](ctx, c, second, reached)
	if err != nil {
		return nil, err
	}
	hosts := partition(call.Group, lists)
	if c.parts.Hosts() < 2 {
		return hosts, nil
	}
	if len(hosts) > 1 {
		return nil, &SeveralHostsError{c.parts, hosts}
	}
	return c.parts.divide(call.Group), nil
}

// gatherAs is Gather for values, which travel as JSON.
func gatherAs[T any](ctx context.Context, c *Client, call Call, mine T) ([]T, error) {
	data, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := c.Gather(ctx, call, data)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(all))
	for i, data := range all {
		if err := json.Unmarshal(data, &list[i]); err != nil {
			return nil, fmt.Errorf("%s: the data of rank %d: %w", call, call.Group[i], err)
		}
	}
	return list, nil
}

// partition groups the ranks that reach each other; reached[i] lists the ranks that ranks[i]
// reaches.
func partition(ranks []int, reached [][]int) [][]int {
	var list [][]int
	done := map[int]bool{}
	for i, r := range ranks {
		if done[r] {
			continue
		}
		var part []int
		for j, p := range ranks {
			if !done[p] && slices.Contains(reached[i], p) && slices.Contains(reached[j], r) {
				part = append(part, p)
				done[p] = true
			}
		}
		list = append(list, part)
	}
	return list
}
