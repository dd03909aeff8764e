// Package symmemtest is the suite that symmem must pass on every device, run by real processes.
//
// The test binary starts itself once for each rank and drives the ranks like a session: it serves
// the bootstrap hub, sends each rank the name of the case to run, and collects their reports. A
// case is a function that every rank runs; it uses only the public API and compares exact values.
// If a rank fails while others wait for it, these are released, and all ranks recover before the
// next case. A failure reads like that of any Go test, with the rank in front.
//
//	go test ./symmem/symmemtest                              the cpu device with 2, 4 and 8 ranks, and the GPUs if there are any
//	SYMMTEST_DEVICE=cuda SYMMTEST_RANKS=4 go test ...        only that
//
// After every case all signals of all groups must be zero, and all ranks must have made the same
// calls in each group.
//
// TestMisuse calls every function and method that cells see with every misuse of each parameter's
// type. It finds the functions, and valid arguments for them, by itself. If an operation accepts a
// value that looks like a misuse, the case is listed among the acceptances, with the words of the
// operation's documentation.
//
// # PyTorch's tests, and the cases that check the same
//
// Of test_symmetric_memory.py, handles, allocation and errors:
//
//	has_multicast_support                              MulticastCaps, HandleFields
//	is_symm_mem_tensor, get_backend                    MemPool, BackEnds, Caps
//	get and set_signal_pad_size, get_signal_pad        SignalPads
//	multicast_ptr                                      MulticastPtr
//	large_alloc                                        LargeTensor
//	alloc_rendezvous_on_current_stream                 AllocationOnStream
//	rendezvous by other means                          TestStart, and the tests of package bootstrap
//	subgroup, strict_subgroup, overlapping_subgroups   Groups, OverlappingGroups
//	rendezvous_after_group_name_recycled               GroupRecycled
//	get                                                GetHalf, PutAndGet, HandleMisuse
//	empty_strided_p2p                                  FillAndSignal, HandleMisuse
//	barrier, put_signal, wait_signal timeouts          BarrierTimeout, PutTwice, SignalTimeout
//	channels and ranks out of bounds                   Channels, HandleMisuse
//	free_waits_for_pending_work                        FreeWithWorkPending
//	free_after_device_assert                           KernelFault, TestReplace, TestGPU of package cuda
//	stream_write_value32, memset32                     StreamWriteValue32, Memset32
//
// Streams and graphs:
//
//	stream_serialization on two streams, put and wait  StreamsShareSignals
//	stream_serialization of concurrent threads         Goroutines
//	graph dependency, of one group and of another      GraphsOnStreams
//	cuda_graph_capture                                 Graphs, DenseGraph, VDevGraph, TileGraph
//	capture_without_replay                             CaptureWithoutReplay
//	low_contention cuda_graph, with rank 0 late        GraphsOnStreams, CopyEngineGraph
//
// Collectives:
//
//	multimem_all_reduce, one_shot, reduce_out          Multimem, MultimemOrder, MultimemMisuse
//	multimem_all_gather                                Multimem
//	one_shot_all_reduce, two_shot_all_reduce           AllReduce, AllReduceWays, AllReduceOrder
//	reduce_scatter, low_contention_reduce_scatter      ReduceScatterSizes, ReduceScatter
//	reduce_scatter_corner_cases                        ReduceScatter, DenseMisuse
//	low_contention_all_gather                          CopyEngineGather, AllGather
//
// Memory pool:
//
//	mempool_tensor_factory, compute_ops                MemPoolTensorFactory, MemPoolComputeOps
//	recycled_alloc_signal_pad, storage_reuse           MemPool
//	large_alloc_barrier                                MemPoolLargeBarrier
//
// Of test_nccl.py and test_ce_colls.py:
//
//	rendezvous_many_allocations                        ManyAllocations
//	barrier, its channels and ranks                    Barrier, Channels, HandleMisuse
//	put, handle_signal, put_wait_signal                SignalWords, SignalsInOrder, PutAndGet
//	collective_cuda_graph                              DenseGraph
//	reduce_scatter_offset, uneven                      ReduceScatterOffset
//	all_to_all_nd                                      Permute
//	ce_allgather, ce_alltoall                          CopyEngineStream, CopyEngineAllToAll
//
// Of test_nvshmem.py and test_token_switch.py:
//
//	handle_offset, get_remote_tensor                   HandleFields, PeerMemory
//	nvshmem_put, nvshmem_get, nvshmem_all_to_all       SignalWords, PutAndGet, AllToAll
//	all_to_all_vdev, _2d, _2d_offset                   VDevExamples, VDevRandom, VDevMixed, VDevGaps
//	dispatch_combine, in a subgroup                    ExpertRoundTrip, VDevExamples
//	dispatch and roundtrip of tokens                   DispatchNeighbour
//	tile_reduce, multi_root_tile_reduce                TileExamples, TileSquare, TileReduce, TileMultiRoot
//	signalling                                         SignalGetReset, SignalTimeout, Channels, HandleMisuse
//
// There are no counterparts of PyTorch's persistent allocations by number, process groups, barriers
// and copies by multicast, products fused with collectives, and gradients.
package symmemtest
