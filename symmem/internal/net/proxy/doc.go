// Package proxy is the engine of a rank, written in C: a single thread that owns all its data.
//
// The thread takes operations from the ring of a board (board.h, which mirrors
// kernels/include/symm/net.cuh), sends them as messages (message.h), applies the messages of peers,
// and sleeps when nothing happens. Tables of functions hide the providers that move messages
// (transport.h) and the copies to device memory (copier.h). sender.c turns operations into
// messages, receiver.c checks and applies messages, order.c tracks their order, and proxy.c is the
// thread.
//
// The Go files of this package only wrap proxy.h in types.
package proxy
