// Package net executes one-sided operations between hosts.
//
// Kernels cannot access the memory of another host through a pointer. They post operations in a
// board, which is host memory that they share with the engine of their rank
// (kernels/include/symm/net.cuh defines it). The engine, a thread in C, executes the operations.
//
// An engine's life: [Open] makes the board and an address. The ranks exchange their addresses and
// call [Engine.Connect] with a common secret and epoch. After a barrier of all ranks, operations
// may be posted. Memory that peers put to or get from is registered on all ranks with the same id
// by [Engine.Window], again followed by a barrier. After a failure all ranks connect with a new
// epoch: earlier operations are over, and the board is reset. [Engine.Close] frees everything.
//
// Two providers move messages: "ucx" opens libucp at run time and goes over real networks
// ([Available] says whether it can), and "null" passes messages through files between processes of
// one machine, with delays and losses according to its settings.
//
// The folder proxy has the engine; proxy/message.h describes the messages between engines.
package net
