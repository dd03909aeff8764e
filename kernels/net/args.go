// Package net holds the kernels of one-sided operations, signals and barriers between hosts:
// symm/net.cuh describes their protocols.
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

// NetSignalArgs are the arguments of net_put_signal, net_wait_signal and net_barrier.
type NetSignalArgs struct {
	Context abi.Context
	Group   abi.NetGroup
	Peer    uint32 // a member; unused by net_barrier
	Channel uint32
}

// NetWaitArgs are the arguments of net_wait_for_signal.
type NetWaitArgs struct {
	Context abi.Context
	Group   abi.NetGroup
	Word    abi.Ptr
	Value   uint64
	Index   uint32 // of the word in its pad, for messages
	AtLeast uint32 // 0: ==, 1: >=
}

// NetAtomicArgs are the arguments of net_atomic.
type NetAtomicArgs struct {
	Word             abi.Ptr
	Value, Compare   uint64
	Result           abi.Ptr // the previous value, for the host
	Operation, Bytes uint32  // abi.ShmemAdd and its neighbours
}
