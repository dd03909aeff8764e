package tuning

// Plan is how a kind of device is best used: the shapes of launches, and for operations with several ways the sizes at which
// they change.
type Plan struct {
	ElementThreads int // a block, for element-wise kernels
	ElementBlocks  int // at most, for each processor
	PacketThreads  int // a block of the packet kernels, while there are blocks to be had; then up to packetCrowd
	PacketCrowd    int // packets.Threads at most
	PacketBlocks   int // at most, in groups of up to 16: see PacketGrid
	LineThreads    int // a block of the line kernels, and so on as for packets
	LineCrowd      int // allreduce.LineThreads at most
	LineBlocks     int // beyond one pass of all their threads they are slower than chunks
	ChunkThreads   int // a block of two_shot_chunks, in a group of up to four
	ChunkBlocks    int // at most, and meetBlocks at most
	MeetThreads    int // a block of the kernels between two barriers that store to peers
	MeetBlocks     int // at most, and of any kernel between two barriers
	LoadThreads    int // a block of those that only load from peers
	LoadBlocks     int // at most
	RowThreads     int // a block of all_to_all_vdev at least; packets.Threads at most
	HostThreads    int // a block of the kernels of groups that span hosts
	HostBlocks     int // 1 or 2: each has two of the slots of a pipe at least
	HostRowBlocks  int // of hosts_rows, hosts.PipeSlots at most
	AllReduce      []Rule
	OneShot        []Rule
	TwoShot        []Rule
	HostsReduce    []Rule // of AllReduce and ReduceScatter, in groups that span hosts
	HostsCopy      []Rule // of AllGather and Broadcast
	HostsAllToAll  []Rule
}

// Rule says which way is best for messages of up to so many bytes in groups of up to so many ranks. The first
// that fits is taken; the last one of a table fits all.
type Rule struct {
	Ranks, Bytes int // 0: any
	Way          *Way
}

// Way is a path of an operation, with the reason as Explain says it.
type Way struct{ Path, Why string }

// The ways of the all-reduces.
var (
	OnePacket = &Way{"one shot by packets", "a small message is quickest in one trip without a barrier"}
	TwoPacket = &Way{"two shots by packets", "two trips of a slice put fewer bytes on the links than one of everything, and need no barrier"}
	TwoLines  = &Way{"two shots by lines", "lines of 128 bytes put more on the links than packets and need no barrier either"}
	OnePull   = &Way{"one shot between barriers", "packets lengthen the message by a third, which costs a large one more than two barriers"}
	TwoChunks = &Way{"two shots by chunks", "a large message is limited by the links, which stores fill better than loads"}
	TwoPull   = &Way{"two shots between barriers", "a large message is limited by the links, which carry every slice twice and nothing else"}
)

// The ways of collectives in groups that span hosts.
var (
	Straight     = &Way{"flat", "every row goes straight into its place"}
	Apart        = &Way{"flat", "what a rank has for another fills messages of its own, and every byte crosses once whichever way it goes"}
	Hierarchical = &Way{"hierarchical", "the network carries every byte to each host once, in the fewest messages"}
	Together     = &Way{"hierarchical", "what the ranks of a host have for a rank of another crosses as one message"}
)

// PacketGrid is how many blocks of the packet kernels have an inbox in a group of so many ranks. The more ranks, the smaller their
// slices.
func (p *Plan) PacketGrid(ranks int) int { return min(p.PacketBlocks, 2048/ranks) }

// LineSlots is how many pieces a block of the line kernels has inboxes for in a group of so many ranks. The more
// ranks, the smaller their slices.
func (p *Plan) LineSlots(ranks int) int { return min(2*p.LineCrowd, 4096/ranks) &^ 31 }

// ChunkCrowd is how many threads a block of two_shot_chunks has. The more ranks, the more it has to do for each chunk and
// the larger its inboxes would be.
func (p *Plan) ChunkCrowd(ranks int) int { return min(p.ChunkThreads, max(2048/ranks&^31, 32)) }

// Pick returns the way of the first rule that fits; lines says that the members' lines arrive whole.
func Pick(rules []Rule, ranks, bytes int, lines bool) *Way {
	for _, r := range rules {
		if (lines || r.Way != TwoLines) && (r.Ranks == 0 || ranks <= r.Ranks) && (r.Bytes == 0 || bytes <= r.Bytes) {
			return r.Way
		}
	}
	panic("tuning: a table of rules has no last one")
}
