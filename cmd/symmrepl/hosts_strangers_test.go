package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// strangersSay returns byte sequences that a stranger may send to a port of UCX. Most are UCX's
// magic number and then a message of its TCP protocol that UCX does not check.
func strangersSay(addresses []uint64) map[string][]byte {
	const id, putID = 0, 33 // active messages have the numbers 0 to 31
	magic := binary.LittleEndian.AppendUint64(nil, 0xcafebabe12345678)
	message := func(id byte, length uint32, data ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte{id}, length), data...)
	}
	say := map[string][]byte{
		"a message of 4 GiB":             append(magic[:8:8], message(id, 0xffffffff, make([]byte, 1<<16)...)...),
		"nothing of sense":               make([]byte, 4096),
		"a secret that is wrong":         append([]byte("symmrepl\x01\x02\x03\x04\x05\x06\x07\x08"), magic...),
		"the beginning of a secret only": []byte("symmrepl"),
	}
	all := magic[:8:8]
	for id := range byte(64) {
		all = append(all, message(id, 40, make([]byte, 40)...)...)
	}
	say["messages of every number"] = all
	for _, address := range addresses {
		put := binary.LittleEndian.AppendUint64(nil, address)
		put = binary.LittleEndian.AppendUint64(put, 4)
		put = binary.LittleEndian.AppendUint32(put, 1)
		say[fmt.Sprintf("a put to address %#x", address)] = append(append(magic[:8:8], message(putID, uint32(len(put)), put...)...), 0x9a, 2, 0, 0) // 666
	}
	return say
}

// strike connects to a rank as a stranger, sends bytes, and checks that the rank closes the
// connection without an answer.
func strike(t *testing.T, to netip.AddrPort, what string, say []byte) {
	t.Helper()
	c, err := net.DialTimeout("tcp", to.String(), patience())
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience()))
	c.Write(say)
	if n, err := c.Read(make([]byte, 64)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: the rank answers with %d bytes, error %v", what, n, err)
	}
}

// descriptors counts the open files of this home's programs.
func (h home) descriptors() (n int) {
	for _, process := range h.processes() {
		list, _ := os.ReadDir(filepath.Join(process, "fd"))
		n += len(list)
	}
	return n
}

// A stranger who reaches a rank's port of UCX but lacks the secret changes nothing: neither by
// messages that would overrun UCX's buffers, nor by messages that would write to the rank's memory,
// nor by many silent connections. The session goes on and counts the strangers.
func TestStrangers(t *testing.T) {
	t.Parallel()
	needUCX(t)
	h := newHome(t, 2)
	x := h.terminal("-n", "2", "--hosts", "2", "--device", "cpu")
	x.expect("2 ranks on 2 hosts, cpu.")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	addresses := []uint64{4096}
	for rank := range 2 {
		x.enter(fmt.Sprintf(`if symm.Rank() == %d { fmt.Println("lies", "at", uint64(h.BufferPtrs()[%d]), "end") }`, rank, rank))
		x.expect(fmt.Sprintf("[%d] lies at ", rank))
		addresses = append(addresses, uint64(x.number()))
	}
	ports := h.listening()
	if len(ports) != 2 {
		t.Fatalf("2 ranks listen at %v", ports)
	}
	struck := 0
	for _, port := range ports {
		for what, say := range strangersSay(addresses) {
			strike(t, port, what, say)
			struck++
		}
	}
	x.enter(`fmt.Println("still", t.Ints())`)
	for rank := range 2 {
		x.expect(fmt.Sprintf("[%d] still [%d %d]\n", rank, 10*(1-rank)+1, 10*(1-rank)+1))
	}
	before := h.descriptors()
	for k := range 600 { // silent connections
		c, err := net.DialTimeout("tcp", ports[k%2].String(), patience())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	swap(x, 2)
	if after := h.descriptors(); after > before+50 {
		t.Errorf("600 silent connections take %d descriptors", after-before)
	}
	x.enter(":net")
	x.expect(fmt.Sprintf("%d connections turned away", struck/2))
	x.enter(":quit!")
	x.exit(0)
	h.expectNothingLeft()
}

// Between hosts a rank listens at the address of one interface. A stranger in the network of that
// interface gets no further either.
func TestStrangersInTheNetwork(t *testing.T) {
	t.Parallel()
	needUCX(t)
	n := newNodes(t, [2]string{"10.213.7.1", "10.213.7.2"})
	n.env = append(n.env, "UCX_TCP_PORT_RANGE=31300-31331")
	n.ip(0, "address", "add", "10.214.8.1/24", "dev", "lo") // another network: no rank may listen at its address
	x, other := n.session()
	x.expect("2 ranks, cpu.")
	x.enter("t := symm.Empty(symm.I32, 2); h := symm.Rendezvous(t)")
	swap(x, 1)
	var port netip.AddrPort
	for _, a := range n.listening() {
		if a.Port() >= 31300 && a.Port() <= 31331 && a.Addr() == netip.MustParseAddr("10.213.7.1") {
			port = a
		} else if a.Port() >= 31300 && a.Port() <= 31331 && a.Addr() != netip.MustParseAddr("10.213.7.2") {
			t.Errorf("a rank listens at %v", a)
		}
	}
	if !port.IsValid() {
		t.Fatalf("rank 0 does not listen: %v", n.listening())
	}
	say := strangersSay([]uint64{4096})
	n.inside(1, func() {
		for what, say := range say {
			strike(t, port, what, say)
		}
	})
	swap(x, 2)
	x.enter(":net")
	x.expect(fmt.Sprintf("%d connections turned away", len(say)))
	n.leave(x, other)
}

// inside calls f in the network of a node. It uses a thread of its own and ends that thread
// afterwards.
func (n nodes) inside(i int, f func()) {
	n.t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		space, err := os.Open("/run/netns/" + n.name(i))
		if err == nil {
			err = unix.Setns(int(space.Fd()), unix.CLONE_NEWNET)
			space.Close()
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		n.t.Fatal(err)
	}
}
