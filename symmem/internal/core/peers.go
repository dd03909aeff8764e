package symmem

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// peerSegment describes the segment that a member shares.
type peerSegment struct {
	Size       int
	Processors int    // of its device
	WholeLines bool   // as the device says
	Multicast  bool   // likewise
	Token      []byte `json:",omitempty"` // between hosts of a fabric
}

// share maps the segments of the members on this rank's host into this process. It returns them by
// rank in the group: this rank's own is seg, and the segments of members on other hosts are nil.
// known returns the segment of a world rank if it is mapped already, or nil. failed is the reason
// why this member has no segment to share: all members then fail. The caller holds g.meeting.
func (g *Group) share(op, desc string, seg device.Segment, failed error, known func(rank int) device.Segment) ([]device.Segment, []peerSegment, error) {
	mine := peerSegment{Processors: g.rt.info.Processors, WholeLines: g.rt.info.WholeLines, Multicast: g.rt.info.Multicast}
	var file *os.File
	if failed == nil {
		mine.Size = seg.Size()
		switch {
		case g.onFabric():
			mine.Token, failed = token(seg)
		case len(g.split.Here()) > 1:
			file, failed = export(seg)
		}
	}
	if file != nil {
		defer file.Close()
	}
	peers, err := gatherValues(g, op, desc, mine, failed)
	if err != nil {
		return nil, nil, err
	}
	mapped := make([]device.Segment, len(g.ranks))
	mapped[g.rank] = seg
	if len(g.ranks) == 1 {
		return mapped, peers, nil
	}
	var files []*os.File
	if g.onFabric() {
		g.met++ // as members do that pass files
	} else if files, err = g.gatherFiles(op, desc, file); err != nil {
		return nil, nil, err
	}
	var fresh []device.Segment
	for at, r := range g.split.Here() {
		i := slices.Index(g.ranks, r)
		if mapped[i] == nil && failed == nil {
			if mapped[i] = known(r); mapped[i] == nil {
				if files == nil {
					mapped[i], failed = g.rt.importToken(peers[i].Token, peers[i].Size)
				} else {
					mapped[i], failed = g.rt.importSegment(files[at], peers[i].Size)
				}
				if failed != nil {
					mapped[i], failed = nil, fmt.Errorf("mapping the memory of rank %d: %w", r, failed)
				} else {
					fresh = append(fresh, mapped[i])
				}
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

func export(object interface{ Export() (int, error) }) (*os.File, error) {
	fd, err := object.Export()
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "segment"), nil
}

// importSegment maps a descriptor that stays the caller's.
func (rt *Runtime) importSegment(f *os.File, size int) (device.Segment, error) {
	return importObject(f, func(fd int) (device.Segment, error) { return rt.dev.ImportSegment(fd, size) })
}

// importObject gives the device a descriptor of its own, which it closes.
func importObject[T any](f *os.File, object func(fd int) (T, error)) (o T, err error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return o, err
	}
	return object(fd)
}

// token returns the name of a segment on other hosts of the fabric.
func token(seg device.Segment) ([]byte, error) {
	s, ok := seg.(device.FabricSegment)
	if !ok {
		return nil, fmt.Errorf("a segment of %T has no token", seg)
	}
	return s.Token()
}

func (rt *Runtime) importToken(token []byte, size int) (device.Segment, error) {
	d, ok := rt.dev.(device.FabricDevice)
	if !ok {
		return nil, fmt.Errorf("%T maps no tokens", rt.dev)
	}
	return d.ImportToken(token, size)
}
