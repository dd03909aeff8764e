// Package net holds the kernels of one-sided operations, signals and barriers between hosts: symm/net.cuh has their protocols.
package net

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// Kinds of the words that a group has in the signals of every member: symm::NetWord.
const (
	Raised   = 0
	Consumed = 1
	Met      = 2
	Words    = 3
)

// NetPostArgs are the arguments of net_post and net_copy.
type NetPostArgs struct {
	Context abi.Context
	Port    abi.NetPort
	Op      abi.NetOp
	Member  uint64
}

// NetGroup is symm::NetGroup: how a rank reaches the members of a group that are on other hosts.
type NetGroup struct {
	Port   abi.NetPort
	Counts abi.Ptr // of the group's words, in device memory
	Ranks  [abi.MaxRanks]uint32
	Words  [abi.MaxRanks]uint32 // where the group's words begin in a member's signals
}

// NetSignalArgs are the arguments of net_put_signal, net_wait_signal and net_barrier.
type NetSignalArgs struct {
	Context abi.Context
	Signals abi.Signals // of the members on this host; 0 for others
	Group   NetGroup
	Peer    uint32 // a member; partners, one bit each, for net_barrier
	Channel uint32
}
