package waits

import (
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/tokens"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Kind is the row of a kind of wait. In its texts {rank} is the rank that the wait is for,
// {channel}, {want}, {seen} and {tokens} are of the record.
type Kind struct {
	what string // it is for: "a signal on channel {channel}"
	whom string // the same of a rank, where that says more: "a signal of {rank} on channel {channel}"
	hint string // what that rank is to do, "" if the program can do nothing

	Calls bool // only calls of other ranks end it
	Turns bool // calls on different channels are different ones
	Mine  bool // operations of this rank end it, when they are over
	Set   bool // any member may end it, by setting a word
	own   bool // a record whose Peer is the rank itself is for no one member,
	none  bool // and no record is
}

const sameCall = "{rank} must make the same call"

var kinds = map[uint32]*Kind{
	device.WaitSignal: {what: "a signal on channel {channel}",
		whom: "a signal of {rank} on channel {channel}, which never came", hint: "{rank} must put it", Calls: true},
	device.WaitConsumed: {what: "the previous signal on channel {channel} to be consumed",
		whom: "{rank} to consume the previous signal on channel {channel}", hint: "{rank} must wait for each signal it is sent",
		Calls: true},
	device.WaitPacket: {what: "packet {want} of block {channel}", whom: "data of {rank}", hint: sameCall, Calls: true},
	device.WaitWord: {what: "signal word {channel} to become {want}; it is {seen}",
		whom: "signal word {channel} to become {want}; it is {seen}", Calls: true, Set: true, own: true},
	device.WaitUser: {what: "a word of its kernel to become {want}; it is {seen}",
		whom: "a word of {rank} to become {want}; it is {seen}"},
	device.WaitBarrier: {what: "the barrier on channel {channel}", whom: "{rank} to come to the barrier on channel {channel}",
		hint: sameCall, Calls: true, Turns: true},
	device.WaitCopy:   {what: "it to come to the copies", whom: "{rank} to come to the copies", hint: sameCall},
	device.WaitCopied: {what: "it to be done with its copies", whom: "{rank} to be done with its copies", hint: "{rank} may be gone"},
	device.WaitNetSignal: {what: "a signal on channel {channel}",
		whom: "a signal of {rank} on channel {channel}, which never came", hint: "{rank} must put it", Calls: true},
	device.WaitNetCounter: {Mine: true, what: "data to travel over the network, by operation {want} of this rank; {seen} are over",
		whom: "data to travel between it and {rank}"},
	device.WaitNetFlush: {Mine: true, what: "the network to be done with {want} operations of this rank; {seen} are over",
		whom: "the network to take an operation with {rank}", own: true},
	device.WaitNetBarrier: {what: "the barrier on channel {channel}",
		whom: "{rank} to come to the barrier on channel {channel}", hint: sameCall, Calls: true, Turns: true},
	device.WaitNetChunk: {what: "chunk {want}, between hosts", whom: "chunk {want} of {rank}, between hosts", hint: sameCall,
		Calls: true},
	device.WaitNetUsed: {what: "room for chunk {want}, between hosts",
		whom: "{rank} to make room for chunk {want}, between hosts", hint: sameCall, Calls: true},
	device.WaitNetRows:   {what: "rows, between hosts", whom: "the rows of {rank}, between hosts", hint: sameCall, Calls: true},
	device.WaitNetTokens: {what: "{tokens}, between hosts", whom: "{tokens} of {rank}, between hosts", hint: sameCall, Calls: true},
	device.WaitCounter:   {Mine: true, what: "counter {channel} to become {want}, by operations of this rank; it is {seen}", own: true},
	device.WaitLSABarrier: {what: "LSA barrier {channel}", whom: "{rank} to come to LSA barrier {channel}",
		hint: "{rank} must launch the same kernel"},
	device.WaitLowLatency: {what: "a value in low-latency slot {channel}", Set: true, none: true},
	device.WaitGinSignal:  {what: "GIN signal {channel} to become {want}; it is {seen}", Set: true, own: true},
	device.WaitGinCounter: {Mine: true, what: "GIN counter {channel} to become {want}; it is {seen}", own: true},
	device.WaitShmemWord: {what: "a word of nvshmem's, which is {seen} and is compared with {want}",
		whom: "a word of nvshmem's, which is {seen} and is compared with {want}", Set: true, own: true},
	device.WaitShmemMeeting: {what: "nvshmem's barrier", whom: "{rank} to come to nvshmem's barrier",
		hint: "{rank} must launch the same kernel"},
	device.WaitLibrary: {what: "NCCL", own: true},
}

// unknown is the row of kinds that a kernel of the user's has made up.
var unknown = &Kind{what: "something in a kernel of yours"}

// Of is the row of a record's kind.
func Of(r *device.WaitRecord) *Kind {
	if k := kinds[r.Kind]; k != nil {
		return k
	}
	return unknown
}

// Peer returns the rank in the group of the member that a wait is for, or -1 if the wait is not for
// one member: any member may end it, or this rank's own operations do.
func (k *Kind) Peer(r *device.WaitRecord) int {
	if k.none || k.own && r.Peer == r.Rank {
		return -1
	}
	return int(r.Peer)
}

// What names the awaited event, as it stands after "for".
func (k *Kind) What(r *device.WaitRecord) string { return fill(k.what, r, -1) }

// Of names the event that the wait expects of a world rank.
func (k *Kind) Of(r *device.WaitRecord, rank int) string {
	if k.whom == "" {
		return fill("{rank}", r, rank)
	}
	return fill(k.whom, r, rank)
}

// Hint returns the action of a world rank that ends such a wait; "" if none is known.
func (k *Kind) Hint(r *device.WaitRecord, rank int) string { return fill(k.hint, r, rank) }

// fill writes a text of a row.
func fill(text string, r *device.WaitRecord, rank int) string {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return strings.NewReplacer(
		"{rank}", "rank "+strconv.Itoa(rank),
		"{channel}", number(uint64(r.Channel)),
		"{want}", number(r.Want),
		"{seen}", number(r.Seen),
		"{tokens}", tokenWords[r.Channel%tokens.Words],
	).Replace(text)
}

// tokenWords names the events for which ranks of a token switch wait.
var tokenWords = [tokens.Words]string{tokens.Counted: "counts of tokens", tokens.Ready: "a region for tokens",
	tokens.Sent: "tokens", tokens.Returned: "results for tokens"}
