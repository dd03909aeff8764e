// Package nccl is a rank's end of a communicator of NCCL: which of its calls may be under way, what
// failed, and its end ([Communicator], [List]). It also has what follows from NCCL alone: the
// environment that it needs, the texts that its own headers compile ([IncludesHeader]), the places
// of the resources of its device API ([Requirements]), and why that API refused a value
// ([Refused]).
//
// NCCL's kernels do not look at the abort word, and NCCL reports failures only when asked. So while
// a call may be under way a goroutine asks. A call that exceeds its time ends the communicator, and
// so does giving up the waits of the world. The end of a communicator ends its kernels; kernels
// that the user launched are ended before, by their owner, because NCCL does not end them. A
// communicator that has ended is released when the streams of all members have come to rest, and
// never used again.
//
// The package knows calls by the id and the stream that its owner gives it. Which group has which
// communicator, what goes by it, and the memory that is registered with it are core's.
package nccl
