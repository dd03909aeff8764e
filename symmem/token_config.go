package symmem

import (
	"fmt"
	"math/bits"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/tokens"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
)

// TokenSwitchConfig holds the sizes of a [TokenSwitch] and the layout of the tokens that arrive.
// All ranks give the same. With n ranks, B = MaxTokens, H = Hidden, K = TopK and L = Experts/n
// experts a rank, of which rank r has those from r*L on, a dispatch delivers
//
//	Mode "low_latency", Layout "expert_major"      Tokens is [L, n*B, H]: of each local expert its rows, packed in the order of the sources
//	                                               and there of the tokens; Counts, by expert, says how many
//	Mode "low_latency", Layout "rank_major"        Tokens is [n, B, H]: of each source its tokens, once each; Counts is by source; Weights is
//	                                               [n, B, K], and Index the same of I32: a selection's local expert, or -1 if it is not here
//	Mode "high_throughput", Layout "flat"          Tokens is [M, H], M = MaxRecv: packed by source, once each; Counts is by source; Weights is
//	                                               [M, K], and Index the same of I64
//	Mode "high_throughput", Layout "expert_major"  Tokens is [M, H]: by local expert, each of whose rows begin at a multiple of Align; Counts is
//	                                               by expert; Offsets has where the experts' rows begin, and the end; Weights is by row
//
// Rows beyond the counts keep their values. Low latency has room for all tokens of all ranks, and
// is for few tokens; high throughput has room for MaxRecv rows, and a routing that needs more is
// refused on all ranks.
type TokenSwitchConfig struct {
	Mode      string // "low_latency" or "high_throughput"
	Layout    string // "expert_major", "rank_major" with low latency, "flat" with high throughput
	Experts   int    // of all ranks: a multiple of their number
	TopK      int    // experts that a token is sent to, at most
	MaxTokens int    // of a rank in one dispatch
	MaxRecv   int    // rows that a rank may receive with high throughput
	Hidden    int    // elements of a token, a multiple of 16 bytes
	DType     DType  // of tokens: BF16, F16 or F32
	Payload   DType  // what a dispatch sends: DType, which is what 0 means, or F8E4M3 with a scale for each 128 elements
	Align     int    // of high throughput, expert_major: a power of two, 1 if it is left out
}

// The layouts by mode and name.
var tokenLayouts = map[[2]string]uint64{
	{"low_latency", "expert_major"}: tokens.ExpertMajor, {"low_latency", "rank_major"}: tokens.RankMajor,
	{"high_throughput", "flat"}: tokens.Flat, {"high_throughput", "expert_major"}: tokens.Zones,
}

// The types of tokens.
var tokenElements = map[DType]uint64{F16: tokens.F16, BF16: tokens.BF16, F32: tokens.F32}

// check refuses a config that no switch can have, and fills in the fields that were left out.
func (c *TokenSwitchConfig) check(rt *Runtime, op string, ranks int) {
	refuse := func(arg, hint, format string, args ...any) {
		panic(rt.core.Misuse(op, arg, hint, format, args...))
	}
	layout, ok := tokenLayouts[[2]string{c.Mode, c.Layout}]
	if !ok {
		refuse("Layout", `"low_latency" has "expert_major" and "rank_major", "high_throughput" has "flat" and "expert_major"`,
			"there is no mode %q with layout %q", c.Mode, c.Layout)
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"Experts", c.Experts}, {"TopK", c.TopK}, {"MaxTokens", c.MaxTokens}, {"Hidden", c.Hidden}} {
		if n.n < 1 || n.n > 1<<24 {
			refuse(n.name, "", "%s must be in [1, %d], not %d", n.name, 1<<24, n.n)
		}
	}
	if _, ok := tokenElements[c.DType]; !ok {
		refuse("DType", "", "tokens are bf16, f16 or f32, not %v", c.DType)
	}
	if c.Payload == 0 {
		c.Payload = c.DType
	}
	limited := layout == tokens.Flat || layout == tokens.Zones
	switch {
	case ranks > abi.MaxRanks:
		panic(rt.core.Misuse(op, "group", "make a smaller group", "a switch is of at most %d ranks, not %d", abi.MaxRanks, ranks))
	case c.Experts%ranks != 0:
		refuse("Experts", "", "%d experts cannot be shared equally by %d ranks", c.Experts, ranks)
	case c.TopK > c.Experts:
		refuse("TopK", "it can be as many as there are experts", "TopK is %d, and there are %d experts", c.TopK, c.Experts)
	case c.Hidden*c.DType.Size()%16 != 0:
		refuse("Hidden", "", "a token of %d %v has %d bytes: they must be a multiple of 16", c.Hidden, c.DType, c.Hidden*c.DType.Size())
	case c.Payload != c.DType && c.Payload != F8E4M3:
		refuse("Payload", "leave it out to send tokens as they are", "a dispatch sends %v or f8e4m3, not %v", c.DType, c.Payload)
	case c.Payload == F8E4M3 && c.Hidden%tokens.Scaled != 0:
		refuse("Hidden", "", "with f8e4m3 the elements of a token must be a multiple of %d, not %d", tokens.Scaled, c.Hidden)
	case !limited && c.MaxRecv != 0:
		refuse("MaxRecv", "leave it out", "low latency has room for all tokens of all ranks")
	case limited && (c.MaxRecv < 1 || c.MaxRecv >= 1<<31):
		refuse("MaxRecv", fmt.Sprintf("%d rows are the most that can arrive", c.most(layout, ranks)),
			"MaxRecv must be in [1, %d], not %d", 1<<31-1, c.MaxRecv)
	case layout != tokens.Zones && c.Align != 0:
		refuse("Align", "leave it out", `Align is of "high_throughput", "expert_major"`)
	case c.Align != 0 && (c.Align < 0 || bits.OnesCount(uint(c.Align)) != 1 || c.Align > 1<<20):
		refuse("Align", "", "Align must be a power of two, at most %d, not %d", 1<<20, c.Align)
	}
	c.Align = max(c.Align, 1)
	if size := c.estimate(layout, ranks); size > 1<<40 || c.rowsOf(layout, ranks) >= 1<<31 || c.MaxTokens*max(c.TopK, ranks) >= 1<<31 {
		refuse("MaxTokens", "make MaxTokens, TopK, Hidden or MaxRecv smaller", "the switch would take %.0f GB of each rank", size/1e9)
	}
}

// most returns the maximum number of rows that can arrive at a rank with high throughput.
func (c *TokenSwitchConfig) most(layout uint64, ranks int) int {
	if layout == tokens.Flat {
		return ranks * c.MaxTokens
	}
	locals, align := c.Experts/ranks, max(c.Align, 1)
	return (ranks*c.MaxTokens*min(c.TopK, locals)+locals*(align-1))/align*align + align
}

// rowsOf is the rows of Tokens.
func (c *TokenSwitchConfig) rowsOf(layout uint64, ranks int) int {
	switch layout {
	case tokens.ExpertMajor:
		return c.Experts * c.MaxTokens
	case tokens.RankMajor:
		return ranks * c.MaxTokens
	}
	return c.MaxRecv
}

// estimate returns about the number of bytes that a switch takes.
func (c *TokenSwitchConfig) estimate(layout uint64, ranks int) float64 {
	copies := ranks
	if layout == tokens.ExpertMajor || layout == tokens.Zones {
		copies = c.TopK
	}
	rows := float64(c.rowsOf(layout, ranks)) + float64(c.MaxTokens)*float64(copies)
	return 2 * rows * (float64(c.Hidden)*float64(c.DType.Size()) + 12*float64(c.TopK))
}

// String is, for example, "low_latency expert_major: 8 of 256 experts, 128 tokens of bf16[7168] a
// rank".
func (c TokenSwitchConfig) String() string {
	s := fmt.Sprintf("%s %s: %d of %d experts, %d tokens of %v[%d] a rank", c.Mode, c.Layout, c.TopK, c.Experts, c.MaxTokens,
		c.DType, c.Hidden)
	if c.Payload != 0 && c.Payload != c.DType {
		s += fmt.Sprintf(" sent as %v", c.Payload)
	}
	if c.MaxRecv > 0 {
		s += fmt.Sprintf(", MaxRecv %d", c.MaxRecv)
	}
	if c.Align > 1 {
		s += fmt.Sprintf(" in zones of %d", c.Align)
	}
	return s
}

// tokenPlan is the layout of a switch's memory.
type tokenPlan struct {
	layout          uint64
	blocks          int
	epochs, inbox   int // in the pad
	words, ticket   int // likewise, between hosts
	pad, data       int // bytes
	places          [2]tokens.TokenPlaces
	notes           [2]tokens.TokenNotes // offsets in the data
	boxes           [2]tokens.TokenBoxes // between hosts
	rows, sums      [2]int               // of dispatches and combines
	counts, offsets int                  // elements
}

// planOf lays a switch of a group of so many ranks out. hosts is nil if all are on one.
func (c *TokenSwitchConfig) planOf(ranks, blocks int, hosts *tokenHosts) *tokenPlan {
	p := &tokenPlan{layout: tokenLayouts[[2]string{c.Mode, c.Layout}], blocks: blocks}
	byExpert := p.layout == tokens.ExpertMajor || p.layout == tokens.Zones
	items, copies, entries, locals := ranks, ranks, 1, c.Experts/ranks
	if byExpert {
		items, copies, entries = c.Experts, c.TopK, c.TopK
	}
	rows, row := c.rowsOf(p.layout, ranks), c.Hidden*c.DType.Size()
	p.counts = locals
	if !byExpert {
		p.counts = ranks
	}
	if p.layout == tokens.Zones {
		p.offsets = locals + 1
	}

	p.epochs = layout.SignalBytes(blocks, ranks)
	p.inbox = p.epochs + (4*tokens.Epochs*blocks+15)&^15
	p.words = p.inbox + 2*ranks*(items+1)*16
	p.ticket = p.words + 8*tokens.Words*ranks
	p.pad = p.ticket + 8
	take := func(n int) int {
		at := p.data
		p.data += (n + 255) &^ 255
		return at
	}
	slots := take(2 * c.MaxTokens * copies * row)
	partners, sent, scales := 0, c.Hidden*c.Payload.Size(), 0
	if hosts != nil {
		partners = hosts.places
	}
	if c.Payload == F8E4M3 {
		scales = c.Hidden / tokens.Scaled * 4
	}
	var common tokens.TokenBoxes
	if hosts != nil && hosts.rails {
		common.Slots = uint64(take(partners * c.MaxTokens * copies * row))
		common.OutSums, common.InSums = uint64(take(2*partners*c.MaxTokens*c.Hidden*4)), uint64(take(2*partners*c.MaxTokens*c.Hidden*4))
	}
	for b := range p.places {
		places, notes := &p.places[b], &p.notes[b]
		places.Slots = uint64(slots)
		p.rows[b], places.Scales = take(rows*sent), uint64(take(rows*scales))
		switch p.layout {
		case tokens.RankMajor:
			places.Weights, places.Index = uint64(take(rows*c.TopK*4)), uint64(take(rows*c.TopK*4))
		case tokens.Flat:
			places.Weights, places.Index = uint64(take(rows*c.TopK*4)), uint64(take(rows*c.TopK*8))
		case tokens.Zones:
			places.Weights = uint64(take(rows * 4))
		}
		places.Table = uint64(take(ranks * c.MaxTokens * entries * 4))
		word := func(n int) abi.Ptr { return abi.Ptr(take(4 * n)) }
		*notes = tokens.TokenNotes{State: word(tokens.StateWords(ranks)), Base: word(items), Chosen: word(c.MaxTokens * c.TopK),
			Order: word(c.MaxTokens * copies),
			Kept:  word(c.MaxTokens * c.TopK), All: word(ranks * items), Counts: word(p.counts), Offsets: word(p.offsets)}
		p.sums[b] = take(c.MaxTokens * row)
		if hosts != nil {
			boxes := &p.boxes[b]
			*boxes = common
			boxes.Out, boxes.OutScales = uint64(take(c.MaxTokens*sent)), uint64(take(c.MaxTokens*scales))
			boxes.In, boxes.InScales = uint64(take(partners*c.MaxTokens*sent)), uint64(take(partners*c.MaxTokens*scales))
			boxes.NoteBytes = uint64(notes.All - notes.Base)
			boxes.Notes = uint64(take(partners * int(boxes.NoteBytes)))
		}
	}
	return p
}
