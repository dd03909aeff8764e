package symmemtest

// testCase is run by all ranks at once.
type testCase struct {
	name string
	min  int  // ranks it needs
	many bool // worth running with more than four
	run  func(*T)
}

var cases = []testCase{
	{"Numbers", 1, false, numbersCase},
	{"Generators", 1, false, generatorsCase},
	{"Shapes", 1, false, shapesCase},
	{"Printing", 1, false, printingCase},
	{"TensorMisuse", 1, false, tensorMisuseCase},
	{"LocalMemory", 1, false, localMemoryCase},

	{"HandleFields", 1, true, handleFieldsCase},
	{"PeerMemory", 1, false, peerMemoryCase},
	{"SignalPads", 1, false, signalPadsCase},
	{"HandleMisuse", 1, false, handleMisuseCase},
	{"LargeTensor", 2, false, largeTensorCase},
	{"FreeWithWorkPending", 2, false, freeWithWorkPendingCase},
	{"Mismatch", 2, false, mismatchCase},

	{"Ring", 2, true, ringCase},
	{"Barrier", 1, true, barrierCase},
	{"SignalsInOrder", 2, false, signalsInOrderCase},
	{"SignalOfAnotherTensor", 2, false, signalOfAnotherTensorCase},
	{"Channels", 1, false, channelsCase},
	{"PutTwice", 2, false, putTwiceCase},
	{"SignalTimeout", 2, false, signalTimeoutCase},
	{"BarrierTimeout", 2, false, barrierTimeoutCase},
	{"SignalWords", 1, true, signalWordsCase},
	{"PutAndGet", 1, true, putAndGetCase},

	{"StreamWriteValue32", 1, true, streamWriteValue32Case},
	{"Memset32", 1, true, memset32Case},
	{"SignalGetReset", 1, false, signalGetResetCase},
	{"Blocks", 1, false, blocksCase},
	{"PendingSignals", 2, false, pendingSignalsCase},

	{"MatMul", 1, false, matMulCase},
	{"Options", 1, false, optionsCase},

	{"CopyEngineGather", 1, true, copyEngineGatherCase},
	{"CopyEngineAllToAll", 1, true, copyEngineAllToAllCase},
	{"CopyEngineGraph", 1, true, copyEngineGraphCase},
	{"CopyEngineTimeout", 2, false, copyEngineTimeoutCase},
	{"CopyEngineAbort", 2, false, copyEngineAbortCase},

	{"Groups", 3, true, groupsCase},
	{"OverlappingGroups", 3, true, overlappingGroupsCase},
	{"GroupMisuse", 1, false, groupMisuseCase},

	{"AllReduce", 1, true, allReduceCase},
	{"AllReduceLarge", 1, false, allReduceLargeCase},
	{"AllReduceOrder", 4, false, allReduceOrderCase},
	{"AllReduceSpecials", 2, false, allReduceSpecialsCase},
	{"AllReduceMany", 1, true, allReduceManyCase},
	{"AllReduceMisuse", 1, false, allReduceMisuseCase},
	{"AllReduceTimeout", 2, false, allReduceTimeoutCase},

	{"AllReduceWays", 1, true, allReduceWaysCase},
	{"AllReduceLines", 1, true, linesCase},
	{"Accumulate", 4, false, accumulateCase},
	{"ReduceScatter", 1, true, reduceScatterCase},
	{"AllGather", 1, true, allGatherCase},
	{"AllToAll", 1, true, allToAllCase},
	{"Broadcast", 1, true, broadcastCase},
	{"Multimem", 1, true, multimemCase},
	{"MultimemOrder", 4, false, multimemOrderCase},
	{"MultimemMisuse", 1, false, multimemMisuseCase},
	{"MulticastCaps", 1, false, multicastCapsCase},
	{"DenseGroups", 3, true, denseGroupsCase},
	{"DenseGraph", 1, false, denseGraphCase},
	{"DenseMany", 1, false, denseManyCase},
	{"DenseMisuse", 1, false, denseMisuseCase},
	{"DenseTimeout", 2, false, denseTimeoutCase},

	{"VDevExamples", 2, false, vdevExampleCase},
	{"VDevRandom", 1, true, vdevRandomCase},
	{"VDevBytes", 1, false, vdevBytesCase},
	{"VDevGaps", 1, true, vdevGapsCase},
	{"ExpertRoundTrip", 1, true, expertRoundTripCase},
	{"DispatchNeighbour", 1, true, dispatchNeighbourCase},
	{"VDevGraph", 1, false, vdevGraphCase},
	{"VDevRefused", 1, true, vdevRefusedCase},
	{"VDevMisuse", 1, false, vdevMisuseCase},
	{"VDevTimeout", 2, false, vdevTimeoutCase},
	{"TileExamples", 1, true, tileExampleCase},
	{"TileReduce", 1, true, tileReduceCase},
	{"TileMultiRoot", 1, true, multiRootCase},
	{"ReduceScatterOffset", 1, true, reduceScatterOffsetCase},
	{"Permute", 1, true, permuteCase},
	{"TileGraph", 1, false, tileGraphCase},
	{"TileMisuse", 1, false, tileMisuseCase},
	{"TileTimeout", 2, false, tileTimeoutCase},

	{"Explain", 1, false, explainCase},
	{"DenseExplain", 1, false, denseExplainCase},

	{"MemPool", 1, true, memPoolCase},
	{"MemPoolTensorFactory", 1, true, memPoolTensorFactoryCase},
	{"MemPoolComputeOps", 1, false, memPoolComputeOpsCase},
	{"MemPoolLargeBarrier", 1, false, memPoolLargeBarrierCase},
	{"MemPoolNoMeeting", 2, true, memPoolNoMeetingCase},
	{"MemPoolGrowth", 1, false, memPoolGrowthCase},
	{"MemPoolStreams", 2, false, memPoolStreamsCase},
	{"MemPoolOrder", 2, true, memPoolOrderCase},
	{"MemPoolHistory", 2, false, memPoolHistoryCase},
	{"MemPoolRecover", 1, true, memPoolRecoverCase},
	{"MemPoolGroup", 3, false, memPoolGroupCase},
	{"MemPoolMisuse", 1, false, memPoolMisuseCase},

	{"Streams", 1, false, streamsCase},
	{"StreamsShareSignals", 2, false, streamsShareSignalsCase},
	{"Graphs", 1, true, graphsCase},
	{"GraphMisuse", 1, false, graphMisuseCase},

	{"Kernels", 1, false, kernelsCase},
	{"KernelHandle", 2, true, kernelHandleCase},
	{"KernelMisuse", 1, false, kernelMisuseCase},
	{"CompileErrors", 1, false, compileErrorsCase},
	{"KernelTimeout", 2, false, kernelTimeoutCase},
	{"KernelFault", 1, false, kernelFaultCase},

	{"Caps", 1, false, capsCase},
	{"Abort", 2, false, abortCase},
	{"AbortLoop", 1, false, abortLoopCase},
}
