package tuning

// CPU is the plan for the cpu device. A waiting thread costs a switch of stacks and a poll, so
// blocks are small: just large enough that small tests cover every loop and every way.
var CPU = &Plan{
	ElementThreads: 256, ElementBlocks: 1,
	PacketThreads: 64, PacketCrowd: 64, PacketBlocks: 1,
	LineThreads: 32, LineCrowd: 64, LineBlocks: 1, ChunkThreads: 64, ChunkBlocks: 1,
	MeetThreads: 64, MeetBlocks: 1, LoadThreads: 64, LoadBlocks: 1, RowThreads: 64,
	HostThreads: 64, HostBlocks: 1, HostRowBlocks: 1,
	HostsReduce:   []Rule{{0, 0, Hierarchical}},
	HostsCopy:     []Rule{{0, 0, Hierarchical}},
	HostsAllToAll: []Rule{{8, 1 << 20, Together}, {8, 0, Apart}, {0, 0, Together}},
	AllReduce:     []Rule{{0, 1 << 10, OnePacket}, {0, 6 << 10, TwoLines}, {0, 0, TwoPull}},
	Pieces:        []Rule{{0, 1 << 10, Packets}, {0, 0, Meeting}},
	Broadcast:     []Rule{{0, 1 << 10, Packets}, {0, 0, Meeting}},
	Rows:          []Rule{{0, 1 << 10, Packets}, {0, 0, Meeting}},
	OneShot:       []Rule{{0, 1 << 10, OnePacket}, {0, 0, OnePull}},
	TwoShot:       []Rule{{0, 2 << 10, TwoPacket}, {0, 512 << 10, TwoChunks}, {0, 0, TwoPull}},
}
