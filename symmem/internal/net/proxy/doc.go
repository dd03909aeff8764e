// Package proxy is the engine of a rank, written in C: a single thread that owns all its data.
//
// The thread takes operations from the ring of a board (board.h, which mirrors
// kernels/include/symm/net.cuh), sends them as messages (message.h), applies the messages of peers,
// and sleeps when nothing happens. Tables of functions hide the providers that move messages
// (transport.h) and the copies to device memory (copier.h).
//
// The files build on each other in one direction: message (messages and their checks), order (of
// messages, and the signals that wait for it), state (the engine's data), memory (copies), command
// (how other threads ask for something), recorder, sender (operations become messages), receiver
// (messages are applied, and answered by the sender), and thread, which has the functions of proxy.h.
//
// The Go files of this package only wrap proxy.h in types.
package proxy
