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

// place is where a rank passes descriptors, as another can tell whether it is the same place there.
type place struct {
	Boot          string // of the kernel that runs the rank
	Dir           string
	Device, Inode uint64 // of Dir
}

// placeOf looks at dir from here. What cannot be seen is no place.
func placeOf(dir string) place {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // sandboxes may lack it; the directory then tells alone
	info, err := os.Stat(dir)
	if err != nil {
		return place{}
	}
	st := info.Sys().(*syscall.Stat_t)
	return place{strings.TrimSpace(string(boot)), dir, uint64(st.Dev), st.Ino}
}

// Hosts parts the members of call.Group by host: those of one part can pass each other files. The parts hold world ranks and
// are in the order of their first ones. It is collective over the group, and all members get the same. Errors are Gather's.
func (c *Client) Hosts(ctx context.Context, call Call) ([][]int, error) {
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
	return parts(call.Group, lists), nil
}

// gatherAs is Gather for values.
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
			return nil, fmt.Errorf("%s: what rank %d says: %w", call, call.Group[i], err)
		}
	}
	return list, nil
}

// parts puts together the ranks that reach each other; reached[i] is what ranks[i] does.
func parts(ranks []int, reached [][]int) [][]int {
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
