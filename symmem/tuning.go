package symmem

// The sizes at which operations change their ways. Those for cuda were measured on 4 and on 2 × NVIDIA H200 on
// 2026-11-21 and 22 (docs/benchmarks.md); groups of more ranks follow from the bytes that each way puts on the links.
// On the cpu device a thread that waits costs a switch of stacks and a poll, so that blocks are small: as many threads as it
// takes for every loop and every way to be taken by small tests.

// plan is how a kind of device is best used.
type plan struct {
	elementThreads int // a block, for element-wise kernels
	elementBlocks  int // at most, for each processor
	packetThreads  int // a block of the packet kernels, while there are blocks to be had; then up to packetCrowd
	packetCrowd    int // kThreads of packets.cuh at most
	packetBlocks   int // at most
	lineThreads    int // a block of the line kernels, and so on as for packets
	lineCrowd      int // kLineThreads of lines.cuh at most
	lineBlocks     int // beyond one pass of all their threads they are slower than chunks
	chunkThreads   int // a block of two_shot_chunks, in a group of up to four
	chunkBlocks    int // at most, and meetBlocks at most
	meetThreads    int // a block of the kernels between two barriers that store to peers
	meetBlocks     int // at most, and of any kernel between two barriers
	loadThreads    int // a block of those that only load from peers
	loadBlocks     int // at most
	rowThreads     int // a block of all_to_all_vdev at least; kThreads of packets.cuh at most
	allReduce      []rule
	oneShot        []rule
	twoShot        []rule
}

// rule says which way is best for messages of up to so many bytes in groups of up to so many ranks. The first
// that fits is taken; the last one of a table fits all.
type rule struct {
	ranks, bytes int // 0: any
	way          *way
}

// way is a path of an operation, with the reason as Explain says it.
type way struct{ path, why string }

var (
	onePacket = &way{"one shot by packets", "a small message is quickest in one trip without a barrier"}
	twoPacket = &way{"two shots by packets", "two trips of a slice put fewer bytes on the links than one of everything, and need no barrier"}
	twoLines  = &way{"two shots by lines", "lines of 128 bytes put more on the links than packets and need no barrier either"}
	onePull   = &way{"one shot between barriers", "packets lengthen the message by a third, which costs a large one more than two barriers"}
	twoChunks = &way{"two shots by chunks", "a large message is limited by the links, which stores fill better than loads"}
	twoPull   = &way{"two shots between barriers", "a large message is limited by the links, which carry every slice twice and nothing else"}
)

var plans = map[string]*plan{
	"cuda": {
		elementThreads: 256, elementBlocks: 8,
		packetThreads: 128, packetCrowd: 512, packetBlocks: 128,
		lineThreads: 128, lineCrowd: 1024, lineBlocks: 128, chunkThreads: 512, chunkBlocks: 132,
		meetThreads: 256, meetBlocks: 132, loadThreads: 512, loadBlocks: 132, rowThreads: 512,
		allReduce: []rule{
			{2, 640 << 10, onePacket}, {2, 7 << 20, twoLines}, {2, 2 << 20, twoPacket}, {2, 0, twoChunks},
			{4, 176 << 10, onePacket}, {4, 512 << 10, twoPacket}, {4, 7 << 20, twoLines}, {4, 4 << 20, twoPacket}, {4, 0, twoChunks},
			{0, 64 << 10, onePacket}, {0, 512 << 10, twoPacket}, {0, 6 << 20, twoLines}, {0, 4 << 20, twoPacket}, {0, 0, twoChunks},
		},
		oneShot: []rule{{2, 1 << 20, onePacket}, {0, 512 << 10, onePacket}, {0, 0, onePull}},
		twoShot: []rule{
			{2, 256 << 10, twoPacket}, {2, 7 << 20, twoLines}, {2, 2 << 20, twoPacket}, {2, 0, twoChunks},
			{4, 512 << 10, twoPacket}, {4, 7 << 20, twoLines}, {0, 512 << 10, twoPacket}, {0, 6 << 20, twoLines}, {0, 4 << 20, twoPacket}, {0, 0, twoChunks},
		},
	},
	"cpu": {
		elementThreads: 256, elementBlocks: 1,
		packetThreads: 64, packetCrowd: 64, packetBlocks: 1,
		lineThreads: 32, lineCrowd: 64, lineBlocks: 1, chunkThreads: 64, chunkBlocks: 1,
		meetThreads: 64, meetBlocks: 1, loadThreads: 64, loadBlocks: 1, rowThreads: 64,
		allReduce: []rule{{0, 1 << 10, onePacket}, {0, 6 << 10, twoLines}, {0, 0, twoPull}},
		oneShot:   []rule{{0, 1 << 10, onePacket}, {0, 0, onePull}},
		twoShot:   []rule{{0, 2 << 10, twoPacket}, {0, 512 << 10, twoChunks}, {0, 0, twoPull}},
	},
}

func (rt *Runtime) plan() *plan { return plans[rt.info.Kind] }

// lineSlots is how many pieces a block of the line kernels has inboxes for in a group of so many ranks. The more
// ranks, the smaller their slices.
func (p *plan) lineSlots(ranks int) int { return min(2*p.lineCrowd, 4096/ranks) &^ 31 }

// chunkCrowd is how many threads a block of two_shot_chunks has. The more ranks, the more it has to do for each chunk and
// the larger its inboxes would be.
func (p *plan) chunkCrowd(ranks int) int { return min(p.chunkThreads, 2048/ranks&^31) }

// pick returns the way of the first rule that fits; lines says that the members' lines arrive whole.
func pick(rules []rule, ranks, bytes int, lines bool) *way {
	for _, r := range rules {
		if (lines || r.way != twoLines) && (r.ranks == 0 || ranks <= r.ranks) && (r.bytes == 0 || bytes <= r.bytes) {
			return r.way
		}
	}
	panic("symmem: a table of rules has no last one")
}
