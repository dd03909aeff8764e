// Package signal holds the kernels by which ranks meet: barriers, signals, and puts with a signal.
package signal

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// BarrierArgs are the arguments of barrier.
type BarrierArgs struct {
	Context abi.Context
	Signals abi.Signals
	Channel uint64
}

// SignalArgs are the arguments of put_signal and wait_signal.
type SignalArgs struct {
	Context abi.Context
	Signals abi.Signals
	Peer    uint32
	Channel uint32
}

// PutWithSignalArgs are the arguments of put_with_signal.
type PutWithSignalArgs struct {
	Dst   abi.Ptr // the peer's memory
	Src   abi.Ptr
	N     uint64  // bytes
	Word  abi.Ptr // the peer's signal
	Value uint64
}

// WaitForSignalArgs are the arguments of wait_for_signal.
type WaitForSignalArgs struct {
	Context abi.Context
	Word    abi.Ptr
	Value   uint64
	Index   uint32 // of the word in its pad, for messages
	AtLeast uint32 // 0: wait for equality; 1: the word may be larger
}

// SignalAddArgs are the arguments of signal_add.
type SignalAddArgs struct {
	Word  abi.Ptr // the peer's signal
	Value uint64
}
