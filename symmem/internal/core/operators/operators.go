package operators

// Manner is the way in which a call involves other ranks. Each manner takes the steps of the
// manners before it.
type Manner uint8

const (
	Alone         Manner = iota // concerns no other rank, or only their memory
	Waiting                     // its kernel waits for a word of memory: it is noted
	Signalling                  // it uses one signal of the group: it is chained, and refused while signals are out of step
	Communicating               // it uses the group's signals so that giving up puts them out of step
	Collective                  // all members make it: it is counted
)

// Operator is a row.
type Operator struct {
	Name    string // in messages, tallies and traces
	Call    string // as programs call it: a method of Runtime, or "Type.Method" where hints and lists name the type
	Manner  Manner
	Options Options

	Hosts   bool   // it reaches members on other hosts, or needs none
	NCCL    bool   // NCCL does it too: it takes Via("NCCL")
	Float8  bool   // it reduces 8-bit floats too
	NVSHMEM bool   // NVSHMEM does it too: it takes Via("NVSHMEM")
	Traffic string // of a call of a handle: "to" or "from" a member, or "with" all; empty if it moves nothing
	Instead string // what reaches other hosts where it does not, as the beginning of a hint
}

// The operators.
var (
	AllReduce = &Operator{Name: "all_reduce", Call: "AllReduce", Manner: Collective, Options: adding | Via, Hosts: true, NCCL: true}

	OneShotAllReduce         = inside("one_shot_all_reduce", "OneShotAllReduce", adding, "AllReduce goes over hosts")
	TwoShotAllReduce         = inside("two_shot_all_reduce", "TwoShotAllReduce", adding, "AllReduce goes over hosts")
	MultimemAllReduce        = inside("multimem_all_reduce", "MultimemAllReduce", Ordered, "AllReduce goes over hosts")
	MultimemOneShotAllReduce = inside("multimem_one_shot_all_reduce", "MultimemOneShotAllReduce", Ordered, "AllReduce goes over hosts")
	MultimemOneShotReduce    = inside("multimem_one_shot_reduce", "MultimemOneShotReduceOut", Ordered,
		"TileReduce goes over hosts, with the whole tensor as a tile")

	ReduceScatter = &Operator{Name: "reduce_scatter", Call: "ReduceScatter", Manner: Collective,
		Options: adding | SplitLastDim | CopyEngine | Via, Hosts: true, NCCL: true, Float8: true}
	ReduceScatterOffset = &Operator{Name: "reduce_scatter_offset", Call: "ReduceScatterOffset", Manner: Collective,
		Options: adding | Via, Hosts: true}
	TileReduce          = &Operator{Name: "tile_reduce", Call: "TileReduce", Manner: Collective, Options: adding | Via, Hosts: true}
	MultiRootTileReduce = &Operator{Name: "multi_root_tile_reduce", Call: "MultiRootTileReduce", Manner: Collective,
		Options: adding | Via, Hosts: true}

	AllGather = &Operator{Name: "all_gather", Call: "AllGather", Manner: Collective, Options: Ordered | CopyEngine | Via,
		Hosts: true, NCCL: true}
	MultimemAllGather = inside("multimem_all_gather", "MultimemAllGatherOut", Ordered, "AllGather goes over hosts")
	AllToAll          = &Operator{Name: "all_to_all", Call: "AllToAll", Manner: Collective, Options: Ordered | CopyEngine | Via,
		Hosts: true, NCCL: true}
	AllToAllPermute = &Operator{Name: "all_to_all_permute", Call: "AllToAllPermute", Manner: Collective, Options: Ordered | Via,
		Hosts: true}
	Broadcast = &Operator{Name: "broadcast", Call: "Broadcast", Manner: Collective, Options: Ordered | Via, Hosts: true, NCCL: true}

	AllToAllVDev   = &Operator{Name: "all_to_all_vdev", Call: "AllToAllVDev", Manner: Collective, Options: Ordered | Via, Hosts: true}
	AllToAllVDev2D = &Operator{Name: "all_to_all_vdev_2d", Call: "AllToAllVDev2D", Manner: Collective,
		Options: Ordered | MajorAlign | Via, Hosts: true}
	AllToAllVDev2DOffset = &Operator{Name: "all_to_all_vdev_2d_offset", Call: "AllToAllVDev2DOffset", Manner: Collective,
		Options: Ordered | Via, Hosts: true}

	TokenRouting  = &Operator{Name: "token_routing", Call: "TokenSwitch.Routing", Manner: Collective, Options: Ordered, Hosts: true}
	TokenDispatch = &Operator{Name: "token_dispatch", Call: "TokenSwitch.Dispatch", Manner: Collective,
		Options: Ordered | Into, Hosts: true}
	TokenDispatchSend = &Operator{Name: "token_dispatch_send", Call: "TokenSwitch.DispatchSend", Manner: Collective,
		Options: Ordered | Into, Hosts: true}
	TokenComplete = &Operator{Name: "token_complete", Call: "TokenSwitch.Complete", Manner: Collective, Options: Ordered, Hosts: true}
	TokenCombine  = &Operator{Name: "token_combine", Call: "TokenSwitch.Combine", Manner: Collective, Options: Ordered | Into, Hosts: true}

	Barrier    = &Operator{Name: "barrier", Call: "Barrier", Manner: Collective, Options: Ordered | Via, Hosts: true, NVSHMEM: true, Traffic: "with"}
	PutSignal  = &Operator{Name: "put_signal", Call: "PutSignal", Manner: Signalling, Options: Ordered | Via, Hosts: true, NVSHMEM: true, Traffic: "to"}
	WaitSignal = &Operator{Name: "wait_signal", Call: "WaitSignal", Manner: Signalling, Options: Ordered | Via, Hosts: true,
		NVSHMEM: true, Traffic: "from"}
	WaitForSignal = &Operator{Name: "wait_for_signal", Call: "WaitForSignal", Manner: Waiting, Options: Ordered | Via,
		Hosts: true, NVSHMEM: true}
	Put           = &Operator{Name: "put", Call: "Put", Options: Ordered | Via, Hosts: true, NCCL: true, NVSHMEM: true, Traffic: "to"}
	PutWithSignal = &Operator{Name: "put_with_signal", Call: "PutWithSignal", Options: Ordered | Weak | Via, Hosts: true,
		NCCL: true, NVSHMEM: true, Traffic: "to"}
	SignalAdd   = &Operator{Name: "signal_add", Call: "SignalAdd", Options: Ordered | Weak | Via, Hosts: true, NVSHMEM: true, Traffic: "to"}
	ResetSignal = alone("reset_signal", "ResetSignal", Ordered)
	Get         = &Operator{Name: "get", Call: "Get", Options: Ordered | Via, Hosts: true, NVSHMEM: true, Traffic: "from"}
	PutBlock    = &Operator{Name: "put_block", Call: "PutBlock", Options: Ordered, Hosts: true, Traffic: "to"}
	GetBlock    = &Operator{Name: "get_block", Call: "GetBlock", Options: Ordered, Hosts: true, Traffic: "from"}

	AllGatherMatMul = inside("all_gather_matmul", "AllGatherMatMul", Ordered|factors,
		"AllGather goes over hosts, and MatMul multiplies its result")
	MatMulReduceScatter = inside("matmul_reduce_scatter", "MatMulReduceScatter", adding|factors,
		"MatMul multiplies, and ReduceScatter goes over hosts")

	MatMul             = alone("matmul", "MatMul", Ordered|factors)
	Map                = alone("map", "Map", Ordered|Into)
	Reduce             = alone("reduce", "Reduce", Ordered|Into|Along)
	StreamWriteValue32 = alone("stream_write_value32", "StreamWriteValue32", Ordered)
	Memset32           = alone("memset32", "Memset32", Ordered)
	Replay             = alone("Replay", "Graph.Replay", Stream)
	EventRecord        = alone("Event.Record", "Event.Record", Stream)
	EventWait          = alone("Event.Wait", "Event.Wait", Stream)
	WorkWait           = alone("Work.Wait", "Work.Wait", Stream)

	Load     = alone("Load", "Load", Group|Shard|Ordinary)
	Save     = alone("Save", "Tensor.Save", Group|Shard)
	SaveFile = alone("SaveFile", "SaveFile", Group|Shard)
)

// All are the rows, in the order in which lists name them.
var All = []*Operator{
	AllReduce, OneShotAllReduce, TwoShotAllReduce, MultimemAllReduce, MultimemOneShotAllReduce, MultimemOneShotReduce,
	ReduceScatter, ReduceScatterOffset, TileReduce, MultiRootTileReduce,
	AllGather, MultimemAllGather, AllToAll, AllToAllPermute, Broadcast,
	AllToAllVDev, AllToAllVDev2D, AllToAllVDev2DOffset,
	TokenRouting, TokenDispatch, TokenDispatchSend, TokenComplete, TokenCombine,
	Barrier, PutSignal, WaitSignal, WaitForSignal, Put, PutWithSignal, SignalAdd, ResetSignal, Get, PutBlock, GetBlock,
	AllGatherMatMul, MatMulReduceScatter, MatMul, Map, Reduce, StreamWriteValue32, Memset32, Replay, EventRecord, EventWait, WorkWait,
	Load, Save, SaveFile,
}

// inside is a collective that loads and stores the memory of all members, which are on one host.
func inside(name, call string, options Options, instead string) *Operator {
	return &Operator{Name: name, Call: call, Manner: Collective, Options: options, Instead: instead}
}

// alone is an operator on this rank's memory.
func alone(name, call string, options Options) *Operator {
	return &Operator{Name: name, Call: call, Options: options, Hosts: true}
}

// Calculation is the row of an operation that is a map under a name of its own, or if reduces is
// set a reduction. It is not among [All]: docs/arithmetic.md has these operations.
func Calculation(name string, reduces bool) *Operator {
	o := *Map
	if reduces {
		o = *Reduce
	}
	o.Name, o.Call = name, name
	return &o
}
