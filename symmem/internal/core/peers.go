package symmem

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// peerSegment is what a member says about the segment it shares.
type peerSegment struct {
	Size       int
	Processors int  // of its device
	WholeLines bool // as the device says
}

// share maps the segments of all members into this process, by position in the group; this rank's own is seg
// itself. known returns a segment of a world rank that is mapped already, or nil. failed is why this member
// has no segment to share, if it has none: all members then fail. A holder of g.meeting calls it.
func (g *Group) share(op, desc string, seg device.Segment, failed error, known func(rank int) device.Segment) ([]device.Segment, []peerSegment, error) {
	mine := peerSegment{Processors: g.rt.info.Processors, WholeLines: g.rt.info.WholeLines}
	var file *os.File
	if failed == nil {
		mine.Size = seg.Size()
		if len(g.ranks) > 1 {
			file, failed = export(seg)
		}
	}
	if file != nil {
		defer file.Close()
	}
	peers, err := agree(g, op, desc, mine, failed)
	if err != nil {
		return nil, nil, err
	}
	mapped := make([]device.Segment, len(g.ranks))
	mapped[g.rank] = seg
	if len(g.ranks) == 1 {
		return mapped, peers, nil
	}
	files, err := g.gatherFiles(op, desc, file)
	if err != nil {
		return nil, nil, err
	}
	var fresh []device.Segment
	for i, f := range files {
		if mapped[i] == nil && failed == nil {
			if mapped[i] = known(g.ranks[i]); mapped[i] == nil {
				if mapped[i], failed = g.rt.importSegment(f, peers[i].Size); failed != nil {
					failed = fmt.Errorf("mapping the memory of rank %d: %w", g.ranks[i], failed)
				} else {
					fresh = append(fresh, mapped[i])
				}
			}
		}
		f.Close()
	}
	if _, err := agree(g, op, desc, struct{}{}, failed); err != nil {
		for _, s := range fresh {
			err = errors.Join(err, s.Close())
		}
		return nil, nil, err
	}
	return mapped, peers, nil
}

func export(seg device.Segment) (*os.File, error) {
	fd, err := seg.Export()
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "segment"), nil
}

// importSegment maps a descriptor that stays the caller's.
func (rt *Runtime) importSegment(f *os.File, size int) (device.Segment, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0) // the device closes its own
	if err != nil {
		return nil, err
	}
	return rt.dev.ImportSegment(fd, size)
}

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
		words[i] = Joined(host)
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:len(words)-1], "; "), words[len(words)-1])
}
