// Package proxy is the engine of a rank in C: one thread that owns everything.
//
// The thread takes operations from the ring of a board (board.h, which mirrors kernels/include/symm/net.cuh), sends them as messages
// (message.h says what engines say to each other), applies the messages of peers, and sleeps when nothing happens. What moves
// messages is behind a table of functions (transport.h), and so is what copies to the memory of a device (copier.h). sender.c turns
// operations into messages, receiver.c checks and applies them, order.c keeps their order, proxy.c is the thread.
//
// The Go files of this package put types around proxy.h and nothing more.
package proxy
