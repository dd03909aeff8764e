package tuning

// Plan has the tuning parameters of a kind of device: launch shapes, and, for operations with
// several ways, the message sizes at which the way changes.
type Plan struct {
	ElementThreads int // per block, for element-wise kernels
	ElementBlocks  int // maximum for each processor
	// per block of the packet kernels, as long as there are enough blocks; then up to PacketCrowd
	PacketThreads int
	PacketCrowd   int // at most packets.Threads
	PacketBlocks  int // maximum in groups of up to 16: see PacketGrid
	LineThreads   int // per block of the line kernels; the others likewise as for packets
	LineCrowd     int // at most allreduce.LineThreads
	// for messages beyond one pass of all their threads, they are slower than chunks
	LineBlocks    int
	ChunkThreads  int // per block of two_shot_chunks, in a group of up to four
	ChunkBlocks   int // maximum, at most MeetBlocks
	MeetThreads   int // per block of kernels between two barriers that store to peers
	MeetBlocks    int // maximum, for any kernel between two barriers
	LoadThreads   int // per block of kernels between two barriers that only load from peers
	LoadBlocks    int // maximum
	RowThreads    int // minimum per block of all_to_all_vdev; at most packets.Threads
	HostThreads   int // per block of the kernels of groups that span hosts
	HostBlocks    int // 1 or 2: each has at least two slots of a pipe
	HostRowBlocks int // of hosts_rows; at most hosts.PipeSlots
	AllReduce     []Rule
	OneShot       []Rule
	TwoShot       []Rule
	Pieces        []Rule // for operations that send each member a piece of so many bytes
	Broadcast     []Rule // the same for Broadcast, whose root sends all
	Rows          []Rule // for rows by splits, of so many bytes from one member to another
	HostsReduce   []Rule // for AllReduce and ReduceScatter in groups that span hosts
	HostsCopy     []Rule // for AllGather and Broadcast in such groups
	HostsAllToAll []Rule
}

// Rule gives the best way for messages of up to Bytes in groups of up to Ranks. The first rule that
// applies is used; the last rule of a table always applies.
type Rule struct {
	Ranks, Bytes int // 0: any
	Way          *Way
}

// Way is a way to execute an operation, with the reason for its choice as shown by Explain.
type Way struct{ Path, Why string }

// The ways of all-reduces.
var (
	OnePacket = &Way{"one shot by packets", "a small message is quickest in one trip without a barrier"}
	TwoPacket = &Way{"two shots by packets",
		"two trips of a slice put fewer bytes on the links than one of everything, and need no barrier"}
	TwoLines  = &Way{"two shots by lines", "lines of 128 bytes put more on the links than packets and need no barrier either"}
	OnePull   = &Way{"one shot between barriers", "packets lengthen the message by a third, which costs a large one more than two barriers"}
	TwoChunks = &Way{"two shots by chunks", "a large message is limited by the links, which stores fill better than loads"}
	TwoPull   = &Way{"two shots between barriers",
		"a large message is limited by the links, which carry every slice twice and nothing else"}
)

// The ways of operations that send each member a piece.
var (
	Packets = &Way{"packets", "a small message is quickest in one trip without a barrier"}
	Meeting = &Way{"between barriers", "packets lengthen the message by a third, which costs a large one more than two barriers"}
)

// The ways of collectives in groups that span hosts.
var (
	Straight     = &Way{"flat", "every row goes straight into its place"}
	Apart        = &Way{"flat", "the data of a rank for another fills whole messages, and every byte crosses the network once on either way"}
	Hierarchical = &Way{"hierarchical", "the network carries every byte to each host once, in the fewest messages"}
	Together     = &Way{"hierarchical", "the messages of a host's ranks for a rank of another host cross as one"}
)

// PacketGrid returns the number of blocks of the packet kernels that have an inbox in a group of
// the ranks. With more ranks, slices are smaller.
func (p *Plan) PacketGrid(ranks int) int { return min(p.PacketBlocks, 2048/ranks) }

// LineSlots returns the number of pieces for which a block of the line kernels has inboxes in a
// group of the ranks. With more ranks, slices are smaller.
func (p *Plan) LineSlots(ranks int) int { return min(2*p.LineCrowd, 4096/ranks) &^ 31 }

// ChunkCrowd returns the number of threads in a block of two_shot_chunks. With more ranks, each
// chunk takes more work, and inboxes would be larger.
func (p *Plan) ChunkCrowd(ranks int) int { return min(p.ChunkThreads, max(2048/ranks&^31, 32)) }

// Pick returns the way of the first rule that applies; lines reports whether the members' lines
// become visible at once.
func Pick(rules []Rule, ranks, bytes int, lines bool) *Way {
	for _, r := range rules {
		if (lines || r.Way != TwoLines) && (r.Ranks == 0 || ranks <= r.Ranks) && (r.Bytes == 0 || bytes <= r.Bytes) {
			return r.Way
		}
	}
	panic("tuning: a table of rules has no last one")
}

// Most returns up to how many bytes the rules choose a way in groups of so many ranks; 0 means never.
// The last rule of the table is for another way.
func Most(rules []Rule, ranks int, way *Way) int {
	most := 0
	for _, r := range rules {
		if r.Way == way && (r.Ranks == 0 || ranks <= r.Ranks) {
			most = max(most, r.Bytes)
		}
	}
	return most
}
