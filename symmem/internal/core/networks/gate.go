package networks

import (
	"crypto/rand"
	"encoding/binary"
	"os"
)

// Gate holds the facts that the ranks have agreed on before one of them listens.
type Gate struct {
	Secret   uint64 // by which they recognise each other when they connect: the first rank's
	Together bool   // all are in one network namespace of one machine: nobody else needs to reach them
}

// Report is one rank's part of the gate.
type Report struct {
	Secret uint64
	Place  string // names the process's network namespace, as no other machine does; empty if that is not known
}

// NewReport returns this rank's report.
func NewReport() Report { return Report{secret(), namespace()} }

// GateOf returns the gate of ranks from the reports of all of them.
func GateOf(all []Report) Gate {
	gate := Gate{all[0].Secret, all[0].Place != ""}
	for _, rank := range all {
		gate.Together = gate.Together && rank.Place == all[0].Place
	}
	return gate
}

func secret() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.NativeEndian.Uint64(b[:])
}

func namespace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, failed := os.Readlink("/proc/self/ns/net")
	if err != nil || failed != nil {
		return ""
	}
	return string(boot) + space
}
