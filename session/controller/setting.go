package controller

import (
	"os"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inherit"
)

// specOf returns the specification that a supervisor with this configuration passes to the worker of
// a rank.
func specOf(c session.Config, rank, size, localRank, localSize int, dir string) inherit.Spec {
	return inherit.Spec{Rank: rank, Size: size, LocalRank: localRank, LocalSize: localSize, Dir: dir, Device: c.Device,
		Backend: c.Backend, Hosts: c.Hosts.String(), Network: c.Network,
		Args: c.Args, Program: c.Program != nil}
}

// stdinOf returns the standard input of a rank's worker; nil stands for empty input.
func stdinOf(c session.Config, rank int) *os.File {
	if rank != 0 || c.Program == nil {
		return nil
	}
	return c.Program.Stdin
}
