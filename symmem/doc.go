// Package symmem is symmetric memory for Go: one process a rank, each with a device, whose kernels
// read and write each other's memory and signal each other without the host.
//
// # A program's life
//
// [Init] opens this rank's device and, together with the other ranks, builds the world: a group of
// all ranks with a block of signal words and packet inboxes in every rank's memory, mapped by all
// the others. [Empty] is collective and gives every rank a tensor of the same shape in memory that
// peers can map; [Rendezvous] maps it and returns a [Handle]. From then on nothing but kernels and
// copies is needed to talk to a peer: Handle.Put, Handle.PutSignal, [OneShotAllReduce], or a kernel
// of the user's own, compiled by [Compile], that receives the handle as a symm::Handle.
//
// A program that torchrun, mpirun or srun starts once for each rank begins with [Start], which
// finds the other ranks and calls Init:
//
//	world := symmem.MustStart()
//	fmt.Println(symmem.OneShotAllReduce(symmem.Empty(symmem.F32, 4).Fill(1), "sum"))
//	world.Close()
//
// # Two sorts of calls
//
// Host-synchronous calls (Empty, Rendezvous, Free of a symmetric tensor, NewGroup) are collective:
// every member of the group makes them, in the same order. Their arguments are compared across
// ranks before anything happens; a difference is an error on all ranks that names each rank's call.
// Stream-ordered calls (all operations on tensors and handles) put work in the current stream and
// return at once; [Runtime.Tallies] compares the calls of the ranks when the program asks for it.
// Methods that read device memory on the host (Float32s, Ints, String) and Synchronize wait for
// that work.
//
// Work goes to the world's current stream: the default stream, or the one given by [OnStream].
// Operations that use the signals of one group (barriers, put_signal and wait_signal, reductions,
// kernels that receive a handle, replays of a [Graph] with any of these) are chained by events if
// they are issued on several streams, in the order in which they were issued: two operations never
// take each other's signals. So a wait on one stream must not need a put that this rank issues
// later on another. Plain copies and 64-bit signal words are not chained.
//
// # Hosts
//
// The ranks of a world may be on several hosts, also simulated ones. A group that spans hosts
// meets, allocates and recovers as any other; the memory of members on this rank's host is mapped,
// and operations that need pointers to the memory of other hosts are refused. [Group.LSA] is the
// team of the members on this host, [Group.Rail] the team of the counterparts on the others.
//
// # Errors
//
// Misuse and faults panic with an [*Error]; [Maybe] turns that into an error value. Nothing is
// launched by a call that is refused. Every wait on the device ends when its [Timeout] passes or
// when [Runtime.Abort] is called: the stream goes on, the tensors are as before except for the
// result of the operation, and the next synchronisation names the ranks that waited and the awaited
// ranks. A barrier or a reduction that was given up leaves signals behind; Runtime.Recover,
// collective over all ranks, clears them. If ranks are gone for good, [Runtime.Survivors] makes a
// group of the remaining ranks.
//
// A nil object, or one that no function of this package made, is refused like other misuse, and
// prints as nil. Objects that were freed, or belong to a world that was closed, can still be
// printed and asked for their name, type, shape, sizes and ranks. Anything else is refused, and so
// are objects of another world.
//
// # Memory
//
// Symmetric memory lives until Free, which is collective, or until no member of its group holds or
// uses it any more: each Empty tells the members which tensors this rank no longer uses, and a
// later Empty of the same size takes such memory, which all members still map. Memory of a memory
// pool and of NVSHMEM's heap lives until Free. Results and Local tensors are ordinary device memory
// from a cache, returned to it by Free or when the garbage collector finds them.
//
// A step that needs a symmetric tensor for a moment takes it from a memory pool: within
// [Runtime.UseMemPool] Local and the operators that return a tensor use symmetric memory that was
// freed before, still mapped by all members, so that neither they nor Rendezvous nor Free meet the
// others on the host.
//
// The package functions act on the world that Init made last; cells of the REPL call them.
package symmem
