// Package nccl is a rank's end of a communicator of NCCL: it keeps the calls that may be under way
// and the failures, and ends the communicator ([Communicator], [List]). It also knows NCCL's own
// rules: the environment that NCCL needs, the texts that its headers compile ([IncludesHeader]),
// the places of the resources of its device API ([Requirements]), and the reasons why that API
// refuses a value ([Refused]).
//
// NCCL's kernels do not look at the abort word, and NCCL reports failures only when asked. So while
// a call may be under way a goroutine asks. A call that exceeds its time ends the communicator, and
// so does giving up the waits of the world. The end of a communicator ends its kernels; kernels
// that the user launched are ended before, by their owner, because NCCL does not end them. A
// communicator that has ended is released when the streams of all members have come to rest, and
// never used again.
//
// The package knows calls by the id and the stream that its owner gives it. Core keeps the
// communicators of each group, decides which calls use them, and registers memory with them.
package nccl
