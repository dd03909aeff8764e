package symmem

import (
	"crypto/rand"
	"encoding/binary"
	"os"
)

// networkGate is what ranks know of each other before one of them listens.
type networkGate struct {
	Secret   uint64 // by which they know each other when they connect: that of the first
	Together bool   // all are in one network namespace of one machine: nobody else needs to reach them
}

// agreeGate finds it. It is collective over g, and no member opens its network, or says where that is found, before all know the secret.
func (rt *Runtime) agreeGate(op string, g *Group) (networkGate, error) {
	type report struct {
		Secret uint64
		Place  string
	}
	var secret [8]byte
	rand.Read(secret[:])
	g.meeting.Lock()
	defer g.meeting.Unlock()
	all, err := agree(g, op, "the gate of the network", report{binary.NativeEndian.Uint64(secret[:]), networkPlace()}, nil)
	if err != nil {
		return networkGate{}, err
	}
	gate := networkGate{all[0].Secret, all[0].Place != ""}
	for _, peer := range all {
		gate.Together = gate.Together && peer.Place == all[0].Place
	}
	return gate, nil
}

// networkPlace names this process's network namespace, as no other machine does; empty if that is not known.
func networkPlace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, failed := os.Readlink("/proc/self/ns/net")
	if err != nil || failed != nil {
		return ""
	}
	return string(boot) + space
}
