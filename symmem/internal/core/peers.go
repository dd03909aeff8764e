package symmem

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// peerSegment describes the segment that a member shares.
type peerSegment struct {
	Size       int
	Processors int    // of its device
	WholeLines bool   // as the device says
	Multicast  bool   // likewise
	Token      []byte `json:",omitempty"` // between hosts of a fabric
	Knows      bool   // the segments of all members on its host are mapped there
}

// share maps the segments of the members on this rank's host into this process. It returns them by
// rank in the group: this rank's own is seg, and the segments of members on other hosts are nil.
// known returns the segment of a world rank if it is mapped already, or nil. failed is the reason
// why this member has no segment to share: all members then fail. The caller holds g.meeting.
func (g *Group) share(op, desc string, seg device.Segment, failed error, known func(rank int) device.Segment) ([]device.Segment,
	[]peerSegment, error) {
	mine := peerSegment{Processors: g.rt.info.Processors, WholeLines: g.rt.info.WholeLines, Multicast: g.rt.info.Multicast}
	var file *os.File
	heap, inHeap := seg.(device.HeapSegment) // which needs no descriptors
	if failed == nil {
		mine.Size = seg.Size()
		switch {
		case inHeap:
		case g.onFabric():
			mine.Token, failed = memory.Token(seg)
		case len(g.split.Here()) > 1:
			file, failed = memory.Export(seg)
		}
	}
	if file != nil {
		defer file.Close()
	}
	mapped := make([]device.Segment, len(g.ranks))
	mapped[g.rank] = seg
	mine.Knows = failed == nil
	for _, r := range g.split.Here() {
		if i := slices.Index(g.ranks, r); i != g.rank {
			mapped[i] = known(r)
			mine.Knows = mine.Knows && mapped[i] != nil
		}
	}
	peers, err := gatherValues(g, op, desc, mine, failed)
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(peers, func(p peerSegment) bool { return !p.Knows }) {
		return mapped, peers, nil
	}
	var files []*os.File
	if inHeap || g.onFabric() {
		g.met++ // as members do that pass files
	} else if files, err = g.gatherFiles(op, desc, file); err != nil {
		return nil, nil, err
	}
	var fresh []device.Segment
	for at, r := range g.split.Here() {
		i := slices.Index(g.ranks, r)
		if mapped[i] == nil && failed == nil {
			if inHeap {
				mapped[i], failed = heap.Peer(r)
			} else if files == nil {
				mapped[i], failed = memory.ImportToken(g.rt.dev, peers[i].Token, peers[i].Size)
			} else {
				mapped[i], failed = memory.Import(files[at],
					func(fd int) (device.Segment, error) { return g.rt.dev.ImportSegment(fd, peers[i].Size) })
			}
			if failed != nil {
				mapped[i], failed = nil, fmt.Errorf("mapping the memory of rank %d: %w", r, failed)
			} else {
				fresh = append(fresh, mapped[i])
			}
		}
		if files != nil {
			files[at].Close()
		}
	}
	if _, err := gatherValues(g, op, desc, struct{}{}, failed); err != nil {
		for _, s := range fresh {
			err = errors.Join(err, s.Close())
		}
		return nil, nil, err
	}
	return mapped, peers, nil
}
