// Package net carries one-sided operations between hosts.
//
// Kernels cannot reach the memory of another host by a pointer. They describe what they want in a board, memory of the host which they
// share with the engine of their rank (kernels/include/symm/net.cuh is the contract), and the engine, a thread of C, carries it.
//
// An engine's life: [Open] makes the board and an address. The ranks gather each other's addresses and call [Engine.Connect] with a
// secret and an epoch that all have in common; then they meet, and from then on operations may be posted. Memory that peers put
// to or get from is registered everywhere by the same id with [Engine.Window], again before a meeting. After a failure all ranks
// connect with a new epoch: what was posted before is over, and the board is as new. [Engine.Close] frees all.
//
// Two providers move messages: "ucx" opens libucp at run time and goes over real networks ([Available] says whether it can), and
// "null" goes through files between the processes of one machine, as slowly and as badly as its settings say.
//
// The proxy folder holds the engine; proxy/message.h says what engines say to each other.
package net
