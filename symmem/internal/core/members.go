package symmem

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// What parts in packages of their own know of groups and of symmetric memory: the interfaces of seam.

// apart is a part in a package of its own.
type apart struct {
	seam.Part[seam.Members, seam.Memory]
}

func (p apart) DropGroup(g *Group)                        { p.Part.DropGroup(members{g}) }
func (p apart) DropMemory(op string, a *allocation) error { return p.Part.DropMemory(op, a) }

// members is a group as seam.Members.
type members struct{ *Group }

func (m members) Lock()   { m.meeting.Lock() }
func (m members) Unlock() { m.meeting.Unlock() }

func (m members) Gather(op, desc string, mine []byte, failed error) ([][]byte, error) {
	all, err := gatherValues(m.Group, op, desc, json.RawMessage(mine), failed)
	if err != nil {
		return nil, err
	}
	data := make([][]byte, len(all))
	for i := range all {
		data[i] = all[i]
	}
	return data, nil
}

func (m members) Absent(err error) bool {
	if err == nil {
		return false
	}
	e := m.rt.failure("", err)
	return e.Kind == KindPeer || e.Kind == KindMismatch && e.Peer >= 0
}

// errOutOfStep refuses a meeting for an end.
var errOutOfStep = errors.New("signals may be out of step")

// Part waits for nobody where other ranks may be stuck.
func (m members) Part(ctx context.Context, end string) error {
	switch {
	case m.rt.broken.Load() != nil:
		return errOutOfStep
	case m.rt.client == nil:
		return nil
	}
	_, err := m.rt.client.Gather(ctx, bootstrap.Call{Group: m.ranks, Key: m.key + " " + end, Op: "Close"}, nil)
	return err
}

func (m members) Split() *places.Split { return &m.split }

func (m members) Waiting(op string) (done func()) { return m.rt.waitOnHost(op, m.Group, m.met) }
func (m members) Context() context.Context        { return m.rt.host() }

// ID implements seam.Memory.
func (a *allocation) ID() string { return a.id }

// Segment implements seam.Memory.
func (a *allocation) Segment() device.Segment { return a.seg }

// Stale implements seam.Memory.
func (a *allocation) Stale() bool { return a.stale.Load() != nil }
