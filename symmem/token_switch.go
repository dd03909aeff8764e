package symmem

import (
	"fmt"
	"slices"
	"sync"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/tokens"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// TokenSwitch carries tokens to the ranks of the experts that a router chose, and sums the results
// of the experts: the dispatch and the combine of a mixture of experts. It keeps memory on all
// ranks until Free: two regions for arriving tokens, which alternate from routing to routing, and
// slots for returning results.
type TokenSwitch struct {
	rt     *Runtime
	config TokenSwitchConfig
	region *core.Region
	plan   *tokenPlan
	hosts  *tokenHosts      // nil if all of the group are on one host
	args   tokens.TokenArgs // the arguments that all calls have in common

	mu      sync.Mutex
	serial  int         // of the latest routing since period began
	period  core.Period // of the latest call
	sending *Dispatched // that waits for Complete
}

// TokenRouting holds the destinations of the tokens of all ranks, as [TokenSwitch.Routing] found
// them. It can be used for several dispatches and combines until the next routing but one of its
// switch. A graph keeps the region that its routing had when it was captured: its replays overwrite
// the data of other routings there.
type TokenRouting struct {
	ts     *TokenSwitch
	serial int
	tokens int // of this rank
	made   core.Period
	writes int  // dispatches so far
	given  bool // weights were
}

// Dispatched is the result of a dispatch: see [TokenSwitchConfig]. The tensors are memory of the
// switch, and valid until its next routing but one, but for Tokens that the caller gave by [Into].
type Dispatched struct {
	Tokens  *Tensor
	Counts  *Tensor // I32: the rows that came, by local expert or by source; zeros after a routing that was refused
	Offsets *Tensor // I32, of high throughput, expert_major: where each expert's rows begin, and the end
	Weights *Tensor // F32; nil with low latency, expert_major
	Index   *Tensor // the local expert of each selection, -1 if it is on another rank; nil with expert_major
	Scales  *Tensor // F32, as Tokens with an element for each 128; nil unless they are f8e4m3

	r     *TokenRouting
	sent  core.Period
	given bool // Tokens were, by Into
}

// NewTokenSwitch makes a switch. It is collective over the group, with equal configs;
// [TokenSwitchConfig] lists the results of dispatches in each layout. Then, for each batch of
// tokens, Routing finds the destinations, Dispatch sends the tokens, and Combine returns the sums
// of the experts' results.
//
// PyTorch: TokenSwitchNCCL; NCCL EP's ncclEpCreateGroup
//
// Shapes: the config gives them.
//
// Synchronises: collective over the group on the host; it does not wait for streams.
//
// Options: *Group (by default all ranks).
//
// Capture: refused: call it before.
//
// Errors: KindMisuse for a config that no switch can have, and a group that spans hosts without a
// network; KindMismatch where the ranks give different configs; KindPeer, KindInterrupted.
func (rt *Runtime) NewTokenSwitch(config TokenSwitchConfig, opts ...Option) *TokenSwitch {
	const op = "NewTokenSwitch"
	rt.core.RefuseClosed(op)
	ts := &TokenSwitch{rt: rt}
	ts.region = rt.core.NewRegion(op, rt.Group(), opts, func(g *Group) (pad, data int, desc string) {
		config.check(rt, op, g.Size())
		ts.config, ts.hosts = config, config.tokenHostsOf(rt, g)
		ts.plan = config.planOf(g.Size(), rt.core.MeetingBlocks(g), ts.hosts)
		return ts.plan.pad, ts.plan.data, config.String()
	})
	g, c := ts.region.Group(), &ts.config
	ts.args = tokens.TokenArgs{
		Epochs: uint64(ts.plan.epochs), Inbox: uint64(ts.plan.inbox), Layout: ts.plan.layout, Element: tokenElements[c.DType],
		Experts: uint64(c.Experts), TopK: uint64(c.TopK), MaxTokens: uint64(c.MaxTokens), MaxRecv: uint64(c.MaxRecv),
		Align: uint64(c.Align), Hidden: uint64(c.Hidden),
	}
	for i := range g.Size() {
		ts.args.Signals.Block[i], ts.args.Data[i] = ts.region.Pad(i), ts.region.Data(i)
	}
	if h := ts.hosts; h != nil {
		h.args.Words, h.args.Ticket = uint64(ts.plan.words), uint64(ts.plan.ticket)
		h.args.Net, h.args.Window, h.args.Start = ts.region.Net()
	}
	return ts
}

// exists refuses a nil switch.
func (ts *TokenSwitch) exists(op string) {
	if ts == nil || ts.region == nil {
		panic(core.NilArgument(op, "switch"))
	}
}

// Group is the group that the switch is of.
func (ts *TokenSwitch) Group() *Group {
	ts.exists("Group")
	return ts.region.Group()
}

// Config returns the config of the switch, with default values filled in.
func (ts *TokenSwitch) Config() TokenSwitchConfig {
	ts.exists("Config")
	return ts.config
}

// String is, for example, "token switch of world, low_latency expert_major: 8 of 256 experts, 128
// tokens of bf16[7168] a rank".
func (ts *TokenSwitch) String() string {
	if ts == nil || ts.region == nil {
		return "nil token switch"
	}
	return fmt.Sprintf("token switch of %v, %v", ts.region.Group(), ts.config)
}

// Free frees the memory of the switch, including the tensors that it delivered. It is collective
// over the group.
func (ts *TokenSwitch) Free() {
	ts.exists("TokenSwitch.Free")
	ts.region.Free("TokenSwitch.Free")
}

// begin checks the options of a call on the switch.
func (ts *TokenSwitch) begin(of *operators.Operator, opts []Option) core.Call {
	c := ts.region.NewCall(of, opts)
	c.Record.DType, c.Record.N, c.Record.Detail = element.Type(ts.config.DType), ts.config.Hidden, ts.config.Mode+" "+ts.config.Layout
	c.Record.Refused = ts.refused
	c.Record.On(ts.region.All())
	return c
}

// launch issues a kernel of the switch for a routing: "routing", "dispatch" and so on. size is the
// bytes that it is given. fill adds the call's own arguments.
func (ts *TokenSwitch) launch(c *core.Call, kernel string, r *TokenRouting, size int, tensors []*Tensor, fill func(a *tokens.TokenArgs)) {
	over := core.ArgsOf[tokens.TokenHostsArgs](c)
	a, b, own := &over.Args, r.serial%2, ts.region.Data(ts.Group().Rank())
	if ts.hosts != nil {
		*over = ts.hosts.args
		over.Boxes = ts.plan.boxes[b]
	}
	head := c.Admit(append(tensors, ts.region.All())...)
	*a = ts.args
	a.Context = head
	a.Context.Channels = uint32(ts.plan.blocks)
	n := ts.plan.notes[b]
	for i := range a.Rows {
		if a.Data[i] != 0 {
			a.Rows[i] = a.Data[i] + abi.Ptr(ts.plan.rows[b])
		}
	}
	for _, at := range []*abi.Ptr{&n.State, &n.Base, &n.Chosen, &n.Order, &n.Kept, &n.All, &n.Counts, &n.Offsets} {
		*at += own
	}
	a.Places, a.Notes, a.Tokens = ts.plan.places[b], n, uint64(r.tokens)
	if ts.config.Payload != ts.config.DType {
		a.Manner = tokens.Quantise
	}
	fill(a)
	l := device.Launch{Grid: [3]int{ts.plan.blocks, 1, 1}, Block: [3]int{c.Plan().RowThreads, 1, 1}, Overlap: true}
	switch {
	case ts.hosts == nil:
		c.Launch("token_"+kernel, 0, l, launch.Bytes(a))
	case kernel == "wait": // posts nothing
		c.Launch("token_hosts_"+kernel, 0, l, launch.Bytes(over))
	default:
		a.Context.Unannounced = 1
		c.LaunchPosting("token_hosts_"+kernel, l, launch.Bytes(over), ts.hosts.way(), ts.hosts.why, size)
	}
}

// enter takes up a call that has begun. After a Recover all ranks begin with the first region,
// since some may have made calls that others have not.
func (ts *TokenSwitch) enter(c *core.Call) {
	if now := c.Period(); now != ts.period {
		if now.Recovered(ts.period) {
			ts.serial, ts.sending = 0, nil
		}
		ts.period = now
	}
}

// idle refuses a call while a dispatch waits for Complete.
func (ts *TokenSwitch) idle(c *core.Call) {
	if d := ts.sending; d != nil && d.sent == c.Period() {
		panic(c.Misuse("", "call Complete on the result of DispatchSend", "a dispatch of this switch was sent and is not complete"))
	}
}

// checkRows refuses a tensor that is not rows of tokens that warps can move.
func (ts *TokenSwitch) checkRows(c *core.Call, arg string, t *Tensor, dtype DType, shape []int) {
	if t.DType() != dtype || !slices.Equal(core.Operand(t).Dims(), shape) {
		panic(c.Misuse(arg, "", "%s is %v, expected %s", arg, core.Operand(t).Brief(), element.Type(dtype).Shaped(shape)))
	}
	if core.Operand(t).Addr()%16 != 0 {
		panic(c.Misuse(arg, "copy it into a tensor of its own", "%s begins at an address that is not a multiple of 16", arg))
	}
}

// Routing finds where the tokens of all ranks go. topk has the experts of each of this rank's
// tokens, in any order, and -1 where a selection is masked. It is read on the device, and not
// needed any more when the stream has passed the call.
//
// PyTorch: TokenSwitchNCCL.create_routing; NCCL EP's ncclEpCreateHandle
//
// Shapes: topk is I64 [tokens, TopK], of any memory; tokens is this rank's own, from 0 to
// MaxTokens.
//
// Synchronises: collective over the group and ordered on the stream. It ends when the counts of all
// ranks are known, after all ranks have reached it. Rows that the last routing but one of the same
// switch delivered must not be in use any more.
//
// Options: *Group (the switch's), *Stream, Timeout.
//
// Capture: yes; replays read topk anew.
//
// Errors: KindMisuse for a topk that does not fit. An expert that is none, one that a token names
// twice, and more rows for a rank than MaxRecv are refused on all ranks, before any row moves: the
// next synchronisation panics with a KindMisuse that names the rank and the number, dispatches and
// combines of the routing do nothing, and the switch stays usable. And the errors of waits.
func (ts *TokenSwitch) Routing(topk *Tensor, opts ...Option) *TokenRouting {
	op := operators.TokenRouting.Name
	ts.exists(op)
	ts.rt.core.Usable(op, topk)
	c := ts.begin(operators.TokenRouting, opts)
	dims := core.Operand(topk).Dims()
	if topk.DType() != I64 || len(dims) != 2 || dims[1] != ts.config.TopK {
		panic(c.Misuse("topk", "", "topk must be i64[tokens, %d], not %v", ts.config.TopK, core.Operand(topk).Brief()))
	}
	if dims[0] > ts.config.MaxTokens {
		panic(c.Misuse("topk", "make a switch with a larger MaxTokens",
			"topk has %d tokens, and the switch has room for %d of a rank, its MaxTokens", dims[0], ts.config.MaxTokens))
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	defer c.Enter().Leave()
	c.PickStream()
	ts.enter(&c)
	ts.idle(&c)
	r := &TokenRouting{ts: ts, serial: ts.serial + 1, tokens: dims[0], made: c.Period()}
	ts.launch(&c, "routing", r, topk.Bytes(), []*Tensor{topk}, func(a *tokens.TokenArgs) { a.Top = core.Operand(topk).Addr() })
	ts.serial = r.serial
	return r
}

// follow refuses a routing that the switch cannot work by.
func (r *TokenRouting) follow(c *core.Call, ts *TokenSwitch) {
	switch {
	case r.ts != ts:
		panic(c.Misuse("routing", "call Routing on this switch", "the routing is of another switch"))
	case r.made.Recovered(c.Period()):
		panic(c.Misuse("routing", "call Routing again", "the routing was made before a Recover"))
	case ts.serial-r.serial >= 2:
		panic(c.Misuse("routing", "call Routing again", "%d routings were made since: a switch keeps two", ts.serial-r.serial))
	}
}

// exists refuses a nil routing.
func (r *TokenRouting) exists(op string) {
	if r == nil || r.ts == nil {
		panic(core.NilArgument(op, "routing"))
	}
}

// String is, for example, "routing of 128 tokens".
func (r *TokenRouting) String() string {
	if r == nil || r.ts == nil {
		return "nil routing"
	}
	return fmt.Sprintf("routing of %d tokens", r.tokens)
}

// Ways of a dispatch.
var (
	tokensFirst = &tuning.Way{Path: "stores into places, then a barrier",
		Why: "the counts of the routing told that the region is free everywhere"}
	tokensAgain = &tuning.Way{Path: "stores into places between barriers", Why: "the routing's region was in use before"}
	tokensInto  = &tuning.Way{Path: "stores into places of a given tensor between barriers", Why: "only the call says when that is free"}
)

// Dispatch sends every token to the ranks of its experts, in the layout of the config. weights are
// the weights of the selections: they travel with the rows, or with low latency, expert_major stay
// for the combine. A token crosses once to each rank, and the rank copies it for further experts of
// its own. A dispatch that sends F8E4M3 divides each 128 elements by the scale, their largest
// magnitude over 448, by a multiplication, and rounds. To another host a token goes straight to
// each rank with low latency; with high throughput it crosses once, to the counterpart there, which
// passes it on: see [Group.Rail]. If the group has more ranks on one host than on another, it goes
// straight too.
//
// PyTorch: TokenSwitchNCCL.dispatch; NCCL EP's ncclEpDispatch
//
// Shapes: x is [tokens, Hidden] of the config's type, and begins at a multiple of 16 bytes; weights
// is F32 [tokens, TopK]; tokens as in the routing.
//
// Synchronises: collective over the group and ordered on the stream. It ends when all rows of all
// ranks have arrived: the stream's next work may overwrite x and weights.
//
// Options: *Group (the switch's), *Stream, Timeout, Into: then Tokens is the caller's, which
// must not be in use on any rank when its stream comes to the call.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors that do not fit, a routing that is out of date, and while a
// dispatch waits for Complete; and the errors of waits.
func (ts *TokenSwitch) Dispatch(r *TokenRouting, x, weights *Tensor, opts ...Option) *Dispatched {
	return ts.dispatch(operators.TokenDispatch, r, x, weights, 0, opts)
}

// DispatchSend is [TokenSwitch.Dispatch] that does not wait: the tensors that it returns have their
// values after [TokenSwitch.Complete]. In between the stream may run kernels while the rows are
// under way.
//
// PyTorch: none; NCCL EP's ncclEpDispatch with send_only
//
// Shapes: as [TokenSwitch.Dispatch].
//
// Synchronises: collective over the group and ordered on the stream. It waits for no other rank,
// unless the routing's region was in use before, or with Into. the stream's next work may overwrite
// x and weights.
//
// Options: as [TokenSwitch.Dispatch].
//
// Capture: yes, in the capture of its Complete.
//
// Errors: as [TokenSwitch.Dispatch].
func (ts *TokenSwitch) DispatchSend(r *TokenRouting, x, weights *Tensor, opts ...Option) *Dispatched {
	return ts.dispatch(operators.TokenDispatchSend, r, x, weights, tokens.Split, opts)
}

func (ts *TokenSwitch) dispatch(of *operators.Operator, r *TokenRouting, x, weights *Tensor, manner uint64, opts []Option) *Dispatched {
	op := of.Name
	ts.exists(op)
	r.exists(op)
	ts.rt.core.Usable(op, x, weights)
	c := ts.begin(of, opts)
	ts.checkRows(&c, "x", x, ts.config.DType, []int{r.tokens, ts.config.Hidden})
	if weights.DType() != F32 || !slices.Equal(core.Operand(weights).Dims(), []int{r.tokens, ts.config.TopK}) {
		panic(c.Misuse("weights", "", "weights must be f32[%d, %d], not %v", r.tokens, ts.config.TopK, core.Operand(weights).Brief()))
	}
	into := c.Into()
	if into != nil {
		ts.checkRows(&c, "Into", into, ts.config.Payload, ts.rows())
		for _, t := range []*Tensor{x, weights} {
			if core.Operand(into).Overlaps(t) {
				panic(c.Misuse("Into", "give another tensor", "the rows would be delivered where x or weights are"))
			}
		}
		c.Record.On(into)
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	defer c.Enter().Leave()
	c.PickStream()
	ts.enter(&c)
	r.follow(&c, ts)
	ts.idle(&c)
	w := tokensFirst
	switch {
	case into != nil:
		w, manner = tokensInto, manner|tokens.Meet
	case r.writes > 0 || r.made != c.Period():
		w, manner = tokensAgain, manner|tokens.Meet
		c.Record.Detail += " again"
	}
	d, used := ts.delivered(r), []*Tensor{x, weights}
	if into != nil {
		c.Mapped(into)
		d.Tokens, d.given, used = into, true, append(used, into)
	}
	ts.launch(&c, "dispatch", r, x.Bytes(), used, func(a *tokens.TokenArgs) {
		d.deliver(&c, a)
		if ts.hosts == nil {
			c.Chose(x.Bytes(), w)
		}
		a.In, a.Given, a.Manner = core.Operand(x).Addr(), core.Operand(weights).Addr(), a.Manner|manner
	})
	r.writes, r.given = r.writes+1, true
	if manner&tokens.Split != 0 {
		d.sent = c.Period()
		ts.sending = d
	}
	return d
}

// deliver makes a kernel deliver rows where the caller wants them.
func (d *Dispatched) deliver(c *core.Call, a *tokens.TokenArgs) {
	if !d.given {
		return
	}
	copies := c.Mapped(d.Tokens)
	for i, near := range a.Data {
		if near != 0 {
			a.Rows[i] = copies.At(i)
		}
	}
}

// delivered is the tensors of a routing's region.
func (ts *TokenSwitch) delivered(r *TokenRouting) *Dispatched {
	c, p, b := &ts.config, ts.plan, r.serial%2
	places, notes := &p.places[b], &p.notes[b]
	part := func(dtype DType, at uint64, shape ...int) *Tensor { return ts.region.Part(dtype, int(at), shape...) }
	shape := ts.rows()
	d := &Dispatched{r: r, Tokens: part(c.Payload, uint64(p.rows[b]), shape...), Counts: part(I32, uint64(notes.Counts), p.counts)}
	if c.Payload == F8E4M3 {
		scales := slices.Clone(shape)
		scales[len(scales)-1] /= tokens.Scaled
		d.Scales = part(F32, places.Scales, scales...)
	}
	selections := append(slices.Clone(shape[:len(shape)-1]), c.TopK)
	switch p.layout {
	case tokens.RankMajor:
		d.Weights, d.Index = part(F32, places.Weights, selections...), part(I32, places.Index, selections...)
	case tokens.Flat:
		d.Weights, d.Index = part(F32, places.Weights, selections...), part(I64, places.Index, selections...)
	case tokens.Zones:
		d.Weights, d.Offsets = part(F32, places.Weights, c.MaxRecv), part(I32, uint64(notes.Offsets), p.offsets)
	}
	return d
}

// rows is the shape of Tokens.
func (ts *TokenSwitch) rows() []int {
	c, ranks := &ts.config, ts.Group().Size()
	switch ts.plan.layout {
	case tokens.ExpertMajor:
		return []int{c.Experts / ranks, ranks * c.MaxTokens, c.Hidden}
	case tokens.RankMajor:
		return []int{ranks, c.MaxTokens, c.Hidden}
	}
	return []int{c.MaxRecv, c.Hidden}
}

// exists refuses a nil result of a dispatch.
func (d *Dispatched) exists(op string) {
	if d == nil || d.r == nil {
		panic(core.NilArgument(op, "dispatched"))
	}
}

// Complete waits for the rows of a dispatch that [TokenSwitch.DispatchSend] sent.
//
// PyTorch: none; NCCL EP's ncclEpComplete
//
// Shapes: none.
//
// Synchronises: collective over the group and ordered on the stream. It ends when all rows of all
// ranks have arrived.
//
// Options: *Group (the switch's), *Stream, Timeout.
//
// Capture: yes, in the capture of its DispatchSend.
//
// Errors: KindMisuse for a dispatch that was not sent, or is complete; and the errors of waits.
func (ts *TokenSwitch) Complete(d *Dispatched, opts ...Option) {
	op := operators.TokenComplete.Name
	ts.exists(op)
	d.exists(op)
	ts.rt.core.Usable(op, d.Tokens)
	c := ts.begin(operators.TokenComplete, opts)
	ts.mu.Lock()
	defer ts.mu.Unlock()
	defer c.Enter().Leave()
	c.PickStream()
	ts.enter(&c)
	d.r.follow(&c, ts)
	if ts.sending != d || d.sent != c.Period() {
		panic(c.Misuse("dispatched", "call DispatchSend first",
			"it was not sent by DispatchSend, in the same capture if there is one, or it is complete"))
	}
	ts.launch(&c, "wait", d.r, 0, []*Tensor{d.Tokens}, func(a *tokens.TokenArgs) { d.deliver(&c, a) })
	ts.sending = nil
}

// Combine returns to every rank the sums of the experts' results for its tokens. out has the rows
// of the dispatch, each in the place where it arrived; y[t] is the sum of the rows of token t: with
// low latency, expert_major of its rows times their weights, in the order of its selections; with
// high throughput, expert_major of its rows, which the caller has weighted, in that order; with the
// other layouts of one row from each rank, to which the caller has reduced the rows of its experts,
// in the order of the ranks. Between hosts with high throughput, each host adds up its rows in that
// order, and then the sums of the hosts are added up in the order of the hosts. Sums are of F32 and
// rounded once: they have the same bits on every run. A token whose selections are all masked
// becomes zero.
//
// PyTorch: TokenSwitchNCCL.combine; NCCL EP's ncclEpCombine
//
// Shapes: out has the shape of the dispatch's Tokens and the config's type, of any memory, and
// begins at a multiple of 16 bytes; it may be Tokens itself. The result is [tokens, Hidden]. It is
// memory of the switch, valid until its next routing but one or a further combine of the routing.
//
// Synchronises: collective over the group and ordered on the stream. It ends when the sums of this
// rank are there; the stream's next work may overwrite out.
//
// Options: *Group (the switch's), *Stream, Timeout, Into: then the result is the caller's, of
// any memory, and not a part of out.
//
// Capture: yes.
//
// Errors: KindMisuse for an out that does not fit, a routing that is out of date or that nothing
// was dispatched by, and while a dispatch waits for Complete; and the errors of waits.
func (ts *TokenSwitch) Combine(r *TokenRouting, out *Tensor, opts ...Option) *Tensor {
	op := operators.TokenCombine.Name
	ts.exists(op)
	r.exists(op)
	ts.rt.core.Usable(op, out)
	c := ts.begin(operators.TokenCombine, opts)
	ts.checkRows(&c, "out", out, ts.config.DType, ts.rows())
	y := c.Into()
	if y != nil {
		ts.checkRows(&c, "Into", y, ts.config.DType, []int{r.tokens, ts.config.Hidden})
		if core.Operand(y).Overlaps(out) {
			panic(c.Misuse("Into", "give another tensor", "the sums would be delivered where out is, which others of them are made of"))
		}
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	defer c.Enter().Leave()
	c.PickStream()
	ts.enter(&c)
	r.follow(&c, ts)
	ts.idle(&c)
	if !r.given {
		panic(c.Misuse("routing", "call Dispatch first", "nothing was dispatched by this routing"))
	}
	used := []*Tensor{out}
	if y != nil {
		used = append(used, y)
	} else {
		y = ts.region.Part(ts.config.DType, ts.plan.sums[r.serial%2], r.tokens, ts.config.Hidden)
	}
	ts.launch(&c, "combine", r, y.Bytes(), used,
		func(a *tokens.TokenArgs) { a.In, a.Out = core.Operand(out).Addr(), core.Operand(y).Addr() })
	return y
}

// refused explains why a routing was refused. All ranks found the same, moved nothing and are in
// step.
func (ts *TokenSwitch) refused(_ *core.Record, e *Error, r *device.WaitRecord) {
	k := ts.config.TopK
	e.Arg = "topk"
	switch r.Kind {
	case tokens.RefusedExpert:
		e.Msg = fmt.Sprintf("selection %d of token %d of rank %d is %d: it must be in [0, %d), or -1, which masks it",
			int(r.Channel)%k, int(r.Channel)/k, e.Peer, int64(r.Seen), r.Want)
	case tokens.RefusedTwice:
		e.Msg = fmt.Sprintf("token %d of rank %d is sent to expert %d twice", int(r.Channel)/k, e.Peer, int64(r.Seen))
		e.Hint = "the experts of a token must differ"
	case tokens.RefusedRoom:
		e.Msg = fmt.Sprintf("rank %d would receive %d rows, and the switch has room for %d, its MaxRecv", e.Peer, r.Seen, r.Want)
		e.Hint = "make a switch with a larger MaxRecv"
	}
}
