package tuning

// CUDA is the plan for GPUs. The sizes were measured on 4 and on 2 × NVIDIA H200 on 2026-11-21 and
// 22, and again on 4 × NVIDIA H100 on 2026-11-26, which changed those of OneShot; those of Pieces,
// Broadcast and Rows were measured on H100s (docs/notes/tuning.md). Those for groups of more ranks
// are derived from the bytes that each way sends over the links. The ways between hosts are those of
// the cpu device, where they were measured.
var CUDA = &Plan{
	ElementThreads: 256, ElementBlocks: 8,
	PacketThreads: 128, PacketCrowd: 512, PacketBlocks: 128,
	LineThreads: 128, LineCrowd: 1024, LineBlocks: 128, ChunkThreads: 512, ChunkBlocks: 132,
	MeetThreads: 256, MeetBlocks: 132, LoadThreads: 512, LoadBlocks: 132, RowThreads: 512,
	HostThreads: 512, HostBlocks: 2, HostRowBlocks: 4,
	HostsReduce:   []Rule{{0, 0, Hierarchical}},
	HostsCopy:     []Rule{{0, 0, Hierarchical}},
	HostsAllToAll: []Rule{{8, 1 << 20, Together}, {8, 0, Apart}, {0, 0, Together}},
	AllReduce: []Rule{
		{2, 640 << 10, OnePacket}, {2, 7 << 20, TwoLines}, {2, 2 << 20, TwoPacket}, {2, 0, TwoChunks},
		{4, 176 << 10, OnePacket}, {4, 512 << 10, TwoPacket}, {4, 7 << 20, TwoLines}, {4, 4 << 20, TwoPacket}, {4, 0, TwoChunks},
		{0, 64 << 10, OnePacket}, {0, 512 << 10, TwoPacket}, {0, 6 << 20, TwoLines}, {0, 4 << 20, TwoPacket}, {0, 0, TwoChunks},
	},
	Pieces:    []Rule{{4, 1 << 20, Packets}, {0, 0, Meeting}},
	Broadcast: []Rule{{2, 1 << 20, Packets}, {4, 512 << 10, Packets}, {0, 0, Meeting}},
	Rows:      []Rule{{2, 512 << 10, Packets}, {4, 128 << 10, Packets}, {0, 0, Meeting}},
	OneShot:   []Rule{{2, 1 << 20, OnePacket}, {4, 2 << 20, OnePacket}, {0, 512 << 10, OnePacket}, {0, 0, OnePull}},
	TwoShot: []Rule{
		{2, 256 << 10, TwoPacket}, {2, 7 << 20, TwoLines}, {2, 2 << 20, TwoPacket}, {2, 0, TwoChunks},
		{4, 512 << 10, TwoPacket}, {4, 7 << 20, TwoLines}, {0, 512 << 10, TwoPacket}, {0, 6 << 20, TwoLines},
		{0, 4 << 20, TwoPacket}, {0, 0, TwoChunks},
	},
}
