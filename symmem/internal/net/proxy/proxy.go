package proxy

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror=implicit-function-declaration
#cgo LDFLAGS: -lpthread
#include <stdlib.h>
#include "proxy.h"
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Setup is the configuration of a proxy.
type Setup struct {
	Transport unsafe.Pointer // a net_transport of C
	Copier    unsafe.Pointer // a net_copier of C, or nil
	Rank      int
	Size      int
	Library   string
	Dir       string
	Interface string
	TLS       string
	Memory    int // how the transport treats device memory
	Signals   int // number of signal words after the board
}

// How a transport treats device memory.
const (
	Staged     = C.NET_STAGED
	DirectHost = C.NET_DIRECT_HOST
	DirectCUDA = C.NET_DIRECT_CUDA
)

// Proxy is an open engine.
type Proxy struct {
	c       *C.net_proxy
	strings []*C.char
}

// Open starts an engine.
func Open(s Setup) (*Proxy, error) {
	p := &Proxy{}
	str := func(s string) *C.char {
		c := C.CString(s)
		p.strings = append(p.strings, c)
		return c
	}
	setup := C.net_setup{
		config: C.net_config{
			rank: C.uint32_t(s.Rank), size: C.uint32_t(s.Size), library: str(s.Library), dir: str(s.Dir),
			_interface: str(s.Interface), tls: str(s.TLS), memory: C.int(s.Memory),
		},
		transport: (*C.net_transport)(s.Transport),
		copier:    (*C.net_copier)(s.Copier),
		signals:   C.uint64_t(s.Signals),
	}
	var why [C.NET_WHY]C.char
	p.c = C.net_open(&setup, &why[0])
	if p.c == nil {
		p.free()
		return nil, errors.New(C.GoString(&why[0]))
	}
	return p, nil
}

// Close ends the thread and frees everything. The proxy must not be in use.
func (p *Proxy) Close() {
	C.net_close(p.c)
	p.free()
}

func (p *Proxy) free() {
	for _, s := range p.strings {
		C.free(unsafe.Pointer(s))
	}
}

// Board returns the head of the memory that kernels share with the engine, and the memory's size
// including the signals.
func (p *Proxy) Board() (unsafe.Pointer, int) {
	return unsafe.Pointer(C.net_board_of(p.c)), int(C.net_board_bytes(p.c))
}

// Address returns the address by which peers find this rank.
func (p *Proxy) Address() []byte {
	b := make([]byte, C.NET_ADDRESS_MAX)
	n := C.net_address(p.c, unsafe.Pointer(&b[0]), C.size_t(len(b)))
	return b[:min(int(n), len(b))]
}

// News returns a descriptor that becomes readable when a peer is lost.
func (p *Proxy) News() int { return int(C.net_news(p.c)) }

// Connect begins an epoch, or sets the addresses of peers in the present one. A rank with an empty
// address is unknown.
func (p *Proxy) Connect(epoch uint32, secret uint64, addresses [][]byte) error {
	starts := make([]C.uint64_t, 1, len(addresses)+1)
	all := make([]byte, 0, 1)
	for _, a := range addresses {
		all = append(all, a...)
		starts = append(starts, C.uint64_t(len(all)))
	}
	var why [C.NET_WHY]C.char
	if C.net_connect(p.c, C.uint32_t(epoch), C.uint64_t(secret), (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(all))), &starts[0],
		&why[0]) != 0 {
		return errors.New(C.GoString(&why[0]))
	}
	return nil
}

// Register registers memory for access by peers, under an id.
func (p *Proxy) Register(id uint32, base uintptr, bytes int) error {
	switch C.net_register(p.c, C.uint32_t(id), C.uint64_t(base), C.uint64_t(bytes)) {
	case 0:
		return nil
	case 1:
		return errors.New("the id is in use")
	}
	return errors.New("no memory")
}

// Forget unregisters a window if no message uses it. It returns how many messages do.
func (p *Proxy) Forget(id uint32) int { return int(C.net_forget(p.c, C.uint32_t(id))) }

// Expect keeps the thread awake until so many more operations are taken.
func (p *Proxy) Expect(operations int) { C.net_expect(p.c, C.uint64_t(operations)) }

// Hold keeps the thread awake while the sum of the arguments of all calls is above 0.
func (p *Proxy) Hold(more int) { C.net_hold(p.c, C.int64_t(more)) }

// Ring wakes the thread.
func (p *Proxy) Ring() { C.net_ring(p.c) }

// Lose makes a peer lost.
func (p *Proxy) Lose(peer int, why string) {
	s := C.CString(why)
	defer C.free(unsafe.Pointer(s))
	C.net_lose(p.c, C.uint32_t(peer), s)
}

// States of a peer.
const (
	Unknown   = C.NET_UNKNOWN
	Connected = C.NET_CONNECTED
	Lost      = C.NET_LOST
)

// Peer is net_peer_state.
type Peer struct {
	State                                                    int
	Why                                                      string
	BytesSent, BytesReceived, MessagesSent, MessagesReceived uint64
	InFlight, Posted, Sent, Landed, Parked, Dropped, Refused uint64
	Missing, Told, ItsPosted, ItsSent, ItsNumber, Number     uint64
}

// Peer returns the state of a peer.
func (p *Proxy) Peer(rank int) Peer {
	var s C.net_peer_state
	C.net_peer_of(p.c, C.uint32_t(rank), &s)
	return Peer{
		State: int(s.state), Why: C.GoString(&s.why[0]), BytesSent: uint64(s.bytes_sent),
		BytesReceived: uint64(s.bytes_received), MessagesSent: uint64(s.messages_sent),
		MessagesReceived: uint64(s.messages_received),
		InFlight:         uint64(s.in_flight), Posted: uint64(s.posted), Sent: uint64(s.sent), Landed: uint64(s.landed),
		Parked: uint64(s.parked), Dropped: uint64(s.dropped), Refused: uint64(s.refused),
		Missing: uint64(s.missing), Told: uint64(s.told), ItsPosted: uint64(s.its_posted), ItsSent: uint64(s.its_sent),
		ItsNumber: uint64(s.its_number), Number: uint64(s.number),
	}
}

// Watch sets the net_watcher of C that the engine calls; nil removes it.
func (p *Proxy) Watch(watcher unsafe.Pointer) { C.net_watch(p.c, watcher) }

// Ask asks a peer what it has sent to this rank; Peer then has its last answer.
func (p *Proxy) Ask(rank int) { C.net_ask(p.c, C.uint32_t(rank)) }

// NextLost returns the next lost peer that it has not returned before, and why it is lost; -1 if
// there is none.
func (p *Proxy) NextLost() (peer int, why string) {
	var w [C.NET_WHY]C.char
	peer = int(C.net_next_lost(p.c, &w[0]))
	return peer, C.GoString(&w[0])
}

// Reasons are the reasons for which messages are dropped, in the order of Refused's counts.
var Reasons = [C.NET_REASONS]string{"", "malformed", "secret", "epoch", "source", "window", "bounds", "signal", "duplicate",
	"far ahead", "no memory", "stranger"}

// Refused returns the numbers of messages that were dropped and of connections that were refused,
// by reason.
func (p *Proxy) Refused() [C.NET_REASONS]uint64 {
	var n [C.NET_REASONS]C.uint64_t
	C.net_refused(p.c, &n[0])
	var to [C.NET_REASONS]uint64
	for i := range n {
		to[i] = uint64(n[i])
	}
	return to
}

// Admit sets the secret by which ranks recognise each other when they connect. It must be called
// before any peer knows this rank's address.
func (p *Proxy) Admit(secret uint64) { C.net_admit(p.c, C.uint64_t(secret)) }

// Tune passes settings of C to the transport.
func (p *Proxy) Tune(settings unsafe.Pointer) error {
	if C.net_tune(p.c, settings) != 0 {
		return errors.New("this network has no settings")
	}
	return nil
}

// Header is net_header, the header of messages.
type Header struct {
	Secret               uint64
	Protocol, Epoch      uint32
	Kind, Source         uint32
	Number, Ticket       uint64
	Bytes                uint64
	Offset, Width, Pitch uint64
	Window, Signal       uint32
	SignalWindow, Strong uint32
	SignalAt, Value      uint64
	Name                 uint64
}

// Kinds of a Header.
const (
	Put    = C.NET_MESSAGE_PUT
	Get    = C.NET_MESSAGE_GET
	Answer = C.NET_MESSAGE_ANSWER
	Fence  = C.NET_MESSAGE_FENCE
	Ack    = C.NET_MESSAGE_ACK
	Ask    = C.NET_MESSAGE_ASK
	Tell   = C.NET_MESSAGE_TELL
)

// Facts returns a header with the values that a message to a peer would have now: the secret, the
// epoch, the source, and the number of the last message.
func (p *Proxy) Facts(peer int) Header {
	var h Header
	C.net_facts(p.c, C.uint32_t(peer), (*C.net_header)(unsafe.Pointer(&h)))
	return h
}

// Raw sends arbitrary bytes as a message.
func (p *Proxy) Raw(peer int, header, data []byte) error {
	header, data = append(header, 0)[:len(header)], append(data, 0)[:len(data)]
	if C.net_raw(p.c, C.uint32_t(peer), unsafe.Pointer(unsafe.SliceData(header)), C.size_t(len(header)),
		unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data))) != 0 {
		return errors.New("not sent")
	}
	return nil
}

// Window is memory that messages may access.
type Window struct {
	ID          uint32
	Base, Bytes uint64
}

// Check returns the receiver's verdict on a message: an index of Reasons, 0 for a message that may
// be applied.
func Check(secret uint64, epoch uint32, size int, signals uint64, windows []Window, header []byte, bytes uint64) (int, Header) {
	list := (*[1 << 16]*C.net_window)(C.calloc(C.size_t(len(windows)+1), 8))
	defer C.free(unsafe.Pointer(list))
	for i, w := range windows {
		list[i] = (*C.net_window)(C.calloc(1, C.sizeof_net_window))
		defer C.free(unsafe.Pointer(list[i]))
		*list[i] = C.net_window{id: C.uint32_t(w.ID), base: C.uint64_t(w.Base), bytes: C.uint64_t(w.Bytes)}
	}
	g := C.net_guard{secret: C.uint64_t(secret), epoch: C.uint32_t(epoch), size: C.uint32_t(size), signals: C.uint64_t(signals),
		windows: &list[0], count: C.size_t(len(windows))}
	raw := C.CBytes(header)
	defer C.free(raw)
	var h Header
	why := C.net_check(&g, raw, C.size_t(len(header)), C.size_t(bytes), (*C.net_header)(unsafe.Pointer(&h)))
	return int(why), h
}

// Sizes and offsets of the C declarations, for the test that compares them with Go's.
var (
	boardLayout = []uintptr{C.sizeof_net_board, unsafe.Offsetof(C.net_board{}.done), unsafe.Offsetof(C.net_board{}.asleep),
		unsafe.Offsetof(C.net_board{}.bell),
		unsafe.Offsetof(C.net_board{}.lost), unsafe.Offsetof(C.net_board{}.counters), unsafe.Offsetof(C.net_board{}.slots)}
	opLayout = []uintptr{C.sizeof_net_op, unsafe.Offsetof(C.net_op{}.kind), unsafe.Offsetof(C.net_op{}.peer),
		unsafe.Offsetof(C.net_op{}.local),
		unsafe.Offsetof(C.net_op{}.offset), unsafe.Offsetof(C.net_op{}.bytes), unsafe.Offsetof(C.net_op{}.width),
		unsafe.Offsetof(C.net_op{}.local_pitch),
		unsafe.Offsetof(C.net_op{}.remote_pitch), unsafe.Offsetof(C.net_op{}.window), unsafe.Offsetof(C.net_op{}.counter),
		unsafe.Offsetof(C.net_op{}.signal),
		unsafe.Offsetof(C.net_op{}.strong), unsafe.Offsetof(C.net_op{}.signal_window), unsafe.Offsetof(C.net_op{}.ordinal),
		unsafe.Offsetof(C.net_op{}.signal_at), unsafe.Offsetof(C.net_op{}.value), unsafe.Offsetof(C.net_op{}.data),
		unsafe.Offsetof(C.net_op{}.unannounced)}
	constants = []uint64{C.NET_SLOTS, C.NET_COUNTERS, C.NET_PEERS, C.NET_PUT, C.NET_GET, C.NET_FENCE, C.NET_VALUE, C.NET_ATOMIC,
		C.NET_FETCH, C.NET_SET, C.NET_ADD, C.NET_AND, C.NET_OR, C.NET_XOR, C.NET_COMPARE_SWAP,
		C.NET_SIGNAL_ADD_INDEXED, C.NET_SIGNAL_SET_WORD, C.NET_SIGNAL_ADD_WORD}
	headerBytes = uintptr(C.sizeof_net_header)
)

// Recorded is net_recorded, a message as a recording has it.
type Recorded struct {
	Kind, Peer      int
	Received        bool
	Ordinal         uint32
	Signals, Failed bool
	Number, Bytes   uint64
	Began, Ended    int64 // nanoseconds of CLOCK_MONOTONIC
}

// Record begins to record messages, so many at most; 0 ends it.
func (p *Proxy) Record(room int) { C.net_record(p.c, C.size_t(room)) }

// Recorded returns the messages that were recorded, and how many had no room.
func (p *Proxy) Recorded() (list []Recorded, lost int) {
	var more C.uint64_t
	n := C.net_take_recorded(p.c, nil, 0, &more)
	if n == 0 {
		return nil, int(more)
	}
	all := make([]C.net_recorded, n)
	n = min(n, C.net_take_recorded(p.c, &all[0], n, &more))
	for _, r := range all[:n] {
		list = append(list, Recorded{
			Kind: int(r.kind), Peer: int(r.peer), Received: r.received != 0, Ordinal: uint32(r.ordinal),
			Signals: r.signals != 0, Failed: r.failed != 0,
			Number: uint64(r.number), Bytes: uint64(r.bytes), Began: int64(r.began), Ended: int64(r.ended),
		})
	}
	return list, int(more)
}
