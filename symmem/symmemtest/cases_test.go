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
