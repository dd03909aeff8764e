package builtin_test

import (
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	alltoallvdev "github.com/symmrepl/symmrepl/kernels/all_to_all_vdev"
	"github.com/symmrepl/symmrepl/kernels/delay"
	"github.com/symmrepl/symmrepl/kernels/elements"
	"github.com/symmrepl/symmrepl/kernels/exchange"
	"github.com/symmrepl/symmrepl/kernels/hosts"
	"github.com/symmrepl/symmrepl/kernels/matmul"
	"github.com/symmrepl/symmrepl/kernels/multimem"
	"github.com/symmrepl/symmrepl/kernels/net"
	"github.com/symmrepl/symmrepl/kernels/packets"
	"github.com/symmrepl/symmrepl/kernels/permute"
	"github.com/symmrepl/symmrepl/kernels/pool"
	"github.com/symmrepl/symmrepl/kernels/reduce"
	"github.com/symmrepl/symmrepl/kernels/rows"
	"github.com/symmrepl/symmrepl/kernels/signal"
	tilereduce "github.com/symmrepl/symmrepl/kernels/tile_reduce"
	"github.com/symmrepl/symmrepl/kernels/tokens"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu/builtin"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// declared has the structs that C++ and Go both declare with the same names.
var declared = []any{
	abi.Context{}, abi.Signals{}, abi.Handle{}, abi.Extent{}, device.Watch{}, device.WaitRecord{}, device.Outside{},
	abi.NetOp{}, abi.NetBoard{}, abi.NetPort{},
	abi.NetMember{}, abi.NetGroup{}, abi.NcclWindow{}, abi.NcclDevComm{}, abi.ShmemWindow{}, abi.ShmemWorld{}, net.NetPostArgs{},
	net.NetSignalArgs{}, net.NetWaitArgs{}, net.NetAtomicArgs{},
	packets.PacketArgs{}, packets.ExchangePacketsArgs{}, packets.ReducePacketsArgs{},
	allreduce.LineArgs{}, allreduce.ChunkArgs{}, allreduce.PullArgs{},
	alltoallvdev.RowsArgs{}, alltoallvdev.AllToAllVdevArgs{},
	delay.DelayArgs{},
	elements.FillArgs{}, elements.ArangeArgs{}, elements.RandArgs{},
	exchange.ExchangeArgs{},
	hosts.Far{}, hosts.Source{}, hosts.Target{}, hosts.PipeArgs{}, hosts.HostsArgs{}, hosts.HostsTile{}, hosts.HostsTilesArgs{}, hosts.HostsRowsArgs{},
	matmul.MatMulArgs{},
	multimem.Multicast{}, multimem.MultimemArgs{}, multimem.MultimemGatherArgs{},
	permute.PermuteArgs{},
	pool.PoolMeetArgs{},
	rows.CopyRowsArgs{},
	signal.BarrierArgs{}, signal.SignalArgs{}, signal.PutWithSignalArgs{}, signal.WaitForSignalArgs{}, signal.SignalAddArgs{},
	tilereduce.Tile{}, tilereduce.TileReduceArgs{},
	tokens.TokenPlaces{}, tokens.TokenNotes{}, tokens.TokenArgs{}, tokens.TokenPartner{}, tokens.TokenBoxes{}, tokens.TokenHostsArgs{},
}

// TestStructs compares the name, the offset and the size of every field with those of the C++
// compiler.
func TestStructs(t *testing.T) {
	structs, _ := builtin.Declarations()
	inCpp := map[string]builtin.Struct{}
	for _, s := range structs {
		if _, twice := inCpp[s.Name]; twice {
			t.Errorf("two structs of C++ are called %s", s.Name)
		}
		inCpp[s.Name] = s
	}
	for _, v := range declared {
		typ := reflect.TypeOf(v)
		s, ok := inCpp[typ.Name()]
		if !ok {
			t.Errorf("no SYMM_LAYOUT names %s", typ.Name())
			continue
		}
		delete(inCpp, typ.Name())
		if got := layoutOf(typ); !reflect.DeepEqual(got, s) {
			t.Errorf("%s is\n%+v in Go and\n%+v in C++", typ.Name(), got, s)
		}
	}
	for name := range inCpp {
		t.Errorf("%s of C++ is not declared in Go, or not compared here", name)
	}
}

// layoutOf describes a struct of Go like one of C++: its named fields, without those of a base.
// Fields of NCCL's structs are spelled as in NCCL.
func layoutOf(typ reflect.Type) builtin.Struct {
	spelled := snake
	if strings.HasPrefix(typ.Name(), "Nccl") {
		spelled = func(name string) string { return strings.ToLower(name[:1]) + name[1:] }
	}
	s := builtin.Struct{Name: typ.Name(), Size: typ.Size()}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Name == "_" || f.Anonymous {
			continue
		}
		s.Fields = append(s.Fields, builtin.Field{spelled(f.Name), f.Offset, f.Type.Size()})
	}
	return s
}

var inside = regexp.MustCompile(`([a-z])([A-Z])`)

func snake(name string) string { return strings.ToLower(inside.ReplaceAllString(name, "${1}_$2")) }

// shmemCalls has the numbers of nvshmem.h's functions.
func shmemCalls() map[string]uint64 {
	m := map[string]uint64{}
	for i, name := range []string{"Put", "Get", "P", "G", "Iput", "Iget", "PutSignal", "SignalOp", "SignalFetch", "SignalWait",
		"Wait", "Test", "Atomic", "Fence", "Quiet", "Barrier", "Sync",
		"Broadcast", "Fcollect", "Alltoall", "Reduce", "ReduceScatter", "TeamCall"} {
		m["kShmem"+name] = uint64(i + 1)
	}
	return m
}

func TestConstants(t *testing.T) {
	want := map[string]map[string]uint64{
		"Limits": {"kMaxRanks": abi.MaxRanks, "kMaxWaits": abi.MaxWaits, "kMaxOutside": abi.MaxOutside,
			"kCounters": abi.Counters, "kAbiVersion": abi.Version},
		"WatchBits": {"kAbort": device.WatchAbort, "kTrace": device.WatchTrace},
		"WaitState": {"kNone": device.WaitNone, "kPending": device.WaitPending, "kTimeout": device.WaitTimeout,
			"kAborted": device.WaitAborted, "kClaimed": device.WaitClaimed, "kRefused": device.WaitRefused, "kLost": device.WaitLost},
		"WaitKind": {"kSignal": device.WaitSignal, "kConsumed": device.WaitConsumed, "kPacket": device.WaitPacket,
			"kWord": device.WaitWord, "kUser": device.WaitUser, "kBarrier": device.WaitBarrier,
			"kNetSignal": device.WaitNetSignal, "kNetCounter": device.WaitNetCounter, "kNetFlush": device.WaitNetFlush,
			"kNetBarrier": device.WaitNetBarrier, "kCounter": device.WaitCounter,
			"kNetChunk": device.WaitNetChunk, "kNetUsed": device.WaitNetUsed, "kNetRows": device.WaitNetRows, "kNetTokens": device.WaitNetTokens,
			"kLsaBarrier": device.WaitLSABarrier, "kLowLatency": device.WaitLowLatency, "kGinSignal": device.WaitGinSignal,
			"kGinCounter": device.WaitGinCounter,
			"kShmemWord":  device.WaitShmemWord, "kShmemMeeting": device.WaitShmemMeeting},
		"NcclRefusal": {"kNcclPeer": abi.NcclPeer, "kNcclBytes": abi.NcclBytes, "kNcclBarrier": abi.NcclBarrier,
			"kNcclBlock": abi.NcclBlock, "kNcclSlot": abi.NcclSlot, "kNcclMultimem": abi.NcclMultimem,
			"kNcclGin": abi.NcclGin, "kNcclRank": abi.NcclRank, "kNcclSignal": abi.NcclSignal, "kNcclCounter": abi.NcclCounter,
			"kNcclGinBarrier": abi.NcclGinBarrierIndex,
			"kNcclLsaTeam":    abi.NcclLsaTeam, "kNcclGinTeam": abi.NcclGinTeam, "kNcclHybridTeam": abi.NcclHybridTeam},
		"NetKind":     {"kNetPut": abi.NetPut, "kNetGet": abi.NetGet, "kNetFence": abi.NetFence, "kNetValue": abi.NetValue, "kNetAtomic": abi.NetAtomic},
		"ShmemLimits": {"kShmemWindows": abi.ShmemWindows, "kShmemFetches": abi.ShmemFetches, "kShmemChunk": abi.ShmemChunk},
		"ShmemRefusal": {"kShmemPe": abi.ShmemPE, "kShmemAddress": abi.ShmemAddress, "kShmemBytes": abi.ShmemBytes,
			"kShmemAligned": abi.ShmemAligned, "kShmemTeam": abi.ShmemTeam,
			"kShmemOperation": abi.ShmemOperation, "kShmemSource": abi.ShmemSource, "kShmemStride": abi.ShmemStride},
		"ShmemCall": shmemCalls(),
		"ShmemAtomic": {"kShmemFetch": abi.ShmemFetch, "kShmemSet": abi.ShmemSet, "kShmemAdd": abi.ShmemAdd,
			"kShmemAnd": abi.ShmemAnd, "kShmemOr": abi.ShmemOr, "kShmemXor": abi.ShmemXor, "kShmemCompareSwap": abi.ShmemCompareSwap},
		"Refusal": {"kBadMember": abi.BadMember, "kBadPlace": abi.BadPlace, "kBadSignal": abi.BadSignal,
			"kBadCounter": abi.BadCounter, "kBadChannel": abi.BadChannel},
		"RemoteCall": {"kCallPut": abi.CallPut, "kCallPutValue": abi.CallPutValue, "kCallGet": abi.CallGet,
			"kCallSignal": abi.CallSignal, "kCallWaitForSignal": abi.CallWaitForSignal,
			"kCallCounter": abi.CallCounter, "kCallPutSignal": abi.CallPutSignal, "kCallWaitSignal": abi.CallWaitSignal, "kCallBarrier": abi.CallBarrier},
		"NetSignal": {"kNetNone": abi.NetNone, "kNetAddIndexed": abi.NetAddIndexed, "kNetSetWord": abi.NetSetWord, "kNetAddWord": abi.NetAddWord},
		"NetWord":   {"kRaised": net.Raised, "kConsumedBy": net.Consumed, "kMet": net.Met, "kNetWords": net.Words},
		"ReduceOp": {"kSum": uint64(reduce.Sum), "kAvg": uint64(reduce.Avg), "kMax": uint64(reduce.Max),
			"kMin": uint64(reduce.Min), "kWide": uint64(reduce.Wide)},
		"Pipes":      {"kPipeSlots": hosts.PipeSlots},
		"PipeMeets":  {"kMeetFilling": hosts.MeetFilling, "kMeetOutboxes": hosts.MeetOutboxes, "kMeetInboxes": hosts.MeetInboxes},
		"Packets":    {"kThreads": packets.Threads},
		"Lines":      {"kLineThreads": allreduce.LineThreads},
		"Chunks":     {"kUnits": allreduce.ChunkUnits, "kBanks": allreduce.ChunkBanks},
		"RowsLayout": {"kDispatch": alltoallvdev.Dispatch, "kCombine": alltoallvdev.Combine},
		"RowsRefused": {"kBadSplit": alltoallvdev.RefusedSplit, "kBadSum": alltoallvdev.RefusedSum,
			"kBadOffset": alltoallvdev.RefusedOffset, "kNoRoom": alltoallvdev.RefusedRoom},
		"Splits":        {"kSplits": alltoallvdev.Splits},
		"Tiles":         {"kTiles": tilereduce.MaxTiles},
		"MulticastType": {"kF32": uint64(multimem.F32), "kF16": uint64(multimem.F16), "kBF16": uint64(multimem.BF16)},
		"Pool":          {"kStep": pool.RefusedStep},
		"TokenLayout":   {"kExpertMajor": tokens.ExpertMajor, "kRankMajor": tokens.RankMajor, "kFlat": tokens.Flat, "kZones": tokens.Zones},
		"TokenElement":  {"kTokenF16": tokens.F16, "kTokenBF16": tokens.BF16, "kTokenF32": tokens.F32},
		"TokenRefused":  {"kExpert": tokens.RefusedExpert, "kTwice": tokens.RefusedTwice, "kRoom": tokens.RefusedRoom},
		"TokenManner":   {"kMeet": tokens.Meet, "kSplit": tokens.Split, "kQuantise": tokens.Quantise},
		"TokenScale":    {"kScaled": tokens.Scaled},
		"TokenEpoch":    {"kTokenEpochs": tokens.Epochs},
		"TokenWord":     {"kCounted": tokens.Counted, "kReady": tokens.Ready, "kSent": tokens.Sent, "kReturned": tokens.Returned, "kTokenWords": tokens.Words},
		"TokenPartners": {"kNobody": tokens.Nobody},
	}
	_, got := builtin.Declarations()
	for group := range want {
		if !maps.Equal(got[group], want[group]) {
			t.Errorf("%s is %v in C++ and %v in Go", group, got[group], want[group])
		}
		delete(got, group)
	}
	if len(got) > 0 {
		t.Errorf("not compared: %v", got)
	}
}

var argument = regexp.MustCompile(`const __grid_constant__ (?:\w+::)?(\w+) a\)`)

var byMacro = regexp.MustCompile(`SYMM_PACKETS\([\w#]+, \w+, ([\w:]+), T\)`)

// TestArguments checks that every kernel has one parameter, a struct that TestStructs compares.
func TestArguments(t *testing.T) {
	sizes := map[string]int{}
	for _, v := range declared {
		sizes[reflect.TypeOf(v).Name()] = int(reflect.TypeOf(v).Size())
	}
	taken := map[string]string{} // by operation
	for _, f := range kernels.Files() {
		text := f.Text
		if m := byMacro.FindStringSubmatch(text); m != nil {
			text = "const __grid_constant__ " + m[1] + " a)" // packets.cuh writes these kernels
		}
		for _, m := range argument.FindAllStringSubmatch(text, -1) {
			taken[f.Operation()] = m[1]
		}
	}
	module := builtin.Load()
	defer module.Close()
	if len(module.Kernels) == 0 {
		t.Error("there are no kernels")
	}
	for _, k := range module.Kernels {
		op := k.Name
		if taken[op] == "" {
			op = k.Name[:strings.LastIndexByte(k.Name, '_')]
		}
		size, ok := sizes[taken[op]]
		if !ok || len(k.Params) != 1 || k.Params[0].Size != size {
			t.Errorf("%s takes %+v; %q of Go has %d bytes", k.Name, k.Params, taken[op], size)
		}
	}
}
