package networks

import (
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Wiring is a group's part of the network: its words among the signals, its tables for kernels, and the
// window of its inboxes. The zero value is that of a group that has none.
type Wiring struct {
	Words   Span         // among the signals of this rank's board
	Links   abi.NetGroup // the group as kernels know it
	Table   device.Ptr   // Links in device memory; 0 without
	Inboxes uint32       // the window of the inboxes, 0 if there is none
}

// Site describes the part of a group's workspace that the network uses.
type Site struct {
	Words      int // among the signals
	Tables     device.Ptr
	Epochs     device.Ptr // where kernels count
	Inboxes    device.Ptr
	InboxBytes int          // 0 if there are no inboxes
	Blocks     []device.Ptr // the signal blocks of the members
}

// wiring describes a member's words and windows to the others.
type wiring struct {
	Words  int    // where the group's begin
	Window uint32 // the next id
}

// Wire gives a group its words, and writes its tables. It is collective over the group; the caller holds
// the group's lock. own guards the network's fields. After an error the group keeps what w has.
func (n *Network) Wire(g seam.Members, own sync.Locker, op, desc string, at Site) (w Wiring, err error) {
	own.Lock()
	s, err := n.Take(at.Words)
	next := n.window
	own.Unlock()
	if err == nil {
		clear(n.In(s)) // of a group that was freed; nobody adds to them any more
	}
	all, failed := seam.Gather(g, op, desc+", words", wiring{s.First, next}, err)
	if failed != nil {
		if err == nil {
			own.Lock()
			defer own.Unlock()
			n.Give(s)
		}
		return w, failed
	}
	w.Words = s
	var words []int
	for _, member := range all {
		words, next = append(words, member.Words), max(next, member.Window)
	}
	n.setWindow(own, next+1)
	if err = n.writeTables(&w, g, words, at); err == nil && at.InboxBytes > 0 {
		w.Inboxes = next
		err = n.Engine.Window(next, uintptr(at.Inboxes), at.InboxBytes)
	}
	_, err = seam.Gather(g, op, desc+", tables", struct{}{}, err)
	return w, err
}

// writeTables writes the tables of members for kernels. words are the indices at which the words of
// each member begin.
func (n *Network) writeTables(w *Wiring, g seam.Members, words []int, at Site) error {
	w.Table = at.Tables
	members, partners, ranks := make([]abi.NetMember, len(words)), g.Split().Partners(), g.Ranks()
	for i, first := range words {
		members[i] = abi.NetMember{Rank: uint32(ranks[i]), Words: uint32(first), Block: at.Blocks[i]}
	}
	w.Links = abi.NetGroup{Port: n.Port, Counts: at.Epochs, Members: w.Table + device.Ptr(unsafe.Sizeof(w.Links)),
		PartnerCount: uint64(len(partners))}
	w.Links.Partners = w.Links.Members + device.Ptr(len(members))*device.Ptr(unsafe.Sizeof(members[0]))
	tables := slices.Concat(launch.Bytes(&w.Links), launch.BytesOfAll(members), launch.BytesOfAll(partners))
	s, err := n.dev.NewStream() // others may wait for peers
	if err != nil {
		return err
	}
	return errors.Join(s.Write(w.Table, tables), s.Synchronize(), s.Close())
}

// Unwire gives the words of a group back, and ends the window of its inboxes. After an error the memory
// of the inboxes must stay. The owner's lock is held.
func (n *Network) Unwire(w Wiring) error {
	if w.Words == (Span{}) {
		return nil
	}
	n.Give(w.Words)
	if w.Inboxes == 0 {
		return nil
	}
	return n.Engine.Forget(w.Inboxes)
}

// Windows makes data and a signal pad of each member windows for the members of g. It returns the id of
// the data's window; the pad's id is the next one. It is collective over the group; the caller holds the
// group's lock. own guards the network's fields.
func (n *Network) Windows(g seam.Members, own sync.Locker, op, name string, data, pad device.Ptr, size, padSize int) (id uint32, err error) {
	own.Lock()
	next := n.window
	own.Unlock()
	all, err := seam.Gather(g, op, "windows of "+name, next, nil)
	if err != nil {
		return 0, err
	}
	id = slices.Max(all)
	n.setWindow(own, id+2)
	err = n.Engine.Window(id, uintptr(data), max(size, 1))
	if err == nil {
		err = n.Engine.Window(id+1, uintptr(pad), padSize)
	}
	_, err = seam.Gather(g, op, "windows of "+name+" are known", struct{}{}, err)
	if err != nil {
		return 0, errors.Join(err, n.Forget(id))
	}
	return id, nil
}

// setWindow chooses the next id of a window: ranks take the same ids.
func (n *Network) setWindow(own sync.Locker, id uint32) {
	own.Lock()
	defer own.Unlock()
	n.window = id
}
