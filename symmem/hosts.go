package symmem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
)

// furnishWorld finds out which ranks share a host, and builds the workspace of the world if all do. Otherwise the world can only
// be asked for its ranks, and groups of the ranks of one host communicate. It is collective over all ranks.
func (rt *Runtime) furnishWorld(op string) {
	hosts, err := rt.findHosts(op)
	if err != nil {
		panic(rt.failure(op, err))
	}
	rt.hosts.Store(&hosts)
	if len(hosts) > 1 {
		rt.all.stale.Store(ptr("its ranks are on several hosts, which share no memory: " + spelled(hosts)))
		return
	}
	rt.all.furnish(op, rt.info.Kind)
}

// findHosts parts all ranks by host.
func (rt *Runtime) findHosts(op string) ([][]int, error) {
	g := rt.all
	if rt.client == nil {
		return [][]int{g.ranks}, nil
	}
	g.meeting.Lock()
	defer g.meeting.Unlock()
	done := rt.waitOnHost(op, g, g.met)
	defer done()
	hosts, err := rt.client.Hosts(rt.host(), bootstrap.Call{Group: g.ranks, Key: g.key, Ordinal: g.met, Op: op, Desc: rt.info.Kind})
	if err == nil {
		g.met++
	}
	return hosts, err
}

// sameHost refuses ranks that are not all on one host.
func (rt *Runtime) sameHost(op string, ranks []int) {
	hosts := rt.hosts.Load()
	if hosts == nil {
		return // this rank has not joined yet
	}
	for _, host := range *hosts {
		if !slices.Contains(host, ranks[0]) {
			continue
		}
		for _, r := range ranks {
			if !slices.Contains(host, r) {
				panic(rt.misuse(op, "ranks", "", "ranks %d and %d are on different hosts, which share no memory: %s", ranks[0], r, spelled(*hosts)))
			}
		}
	}
}

// neighbours are the ranks of this rank's host, this one among them.
func (rt *Runtime) neighbours() []int {
	hosts := *rt.hosts.Load()
	return hosts[slices.IndexFunc(hosts, func(host []int) bool { return slices.Contains(host, rt.rank) })]
}

// spelled writes parts of the ranks: "0,1 and 2,3".
func spelled(hosts [][]int) string {
	words := make([]string, len(hosts))
	for i, host := range hosts {
		words[i] = joined(host)
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:len(words)-1], "; "), words[len(words)-1])
}
