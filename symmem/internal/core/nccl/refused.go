package nccl

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Refusal describes a value that a function of NCCL's device API refused, or a resource that a
// communicator cannot have.
type Refusal struct {
	Msg, Hint string
	NoPeer    bool // it concerns no one rank
}

// Refused explains a value that a function of NCCL's device API refused. Msg is empty for a record
// of another kind.
func Refused(r *device.WaitRecord) (e Refusal) {
	switch r.Kind {
	case abi.NcclPeer:
		e.Msg = fmt.Sprintf("a pointer to rank %d was asked for, which is none of the %d ranks of the LSA team: it is nullptr",
			int32(r.Peer), r.Want)
		e.Hint = "ncclTeamLsa(devComm) is the ranks that have pointers; others are reached over the network"
	case abi.NcclBytes:
		e.Msg = fmt.Sprintf("a pointer at byte %d was asked for, and the window has %d: it is nullptr", r.Seen, r.Want)
	case abi.NcclBarrier:
		e.Msg = fmt.Sprintf("barrier %d was asked for, and the communicator has %d", r.Seen, r.Want)
		e.Hint = "ask for as many as there are blocks: symm.DevReqs{LsaBarriers: n}, or Barriers for ncclBarrierSession"
	case abi.NcclMultimem:
		e.Msg, e.Hint = "a multimem pointer was asked for: it is nullptr", "ask for them: symm.DevReqs{Multimem: true}"
	case abi.NcclGin:
		e.Msg, e.Hint = "GIN was not asked for", "ask for signals: symm.DevReqs{GinSignals: n}"
	case abi.NcclRank:
		e.Msg = fmt.Sprintf("rank %d was named, and the ranks are in [0, %d)", int64(r.Seen), r.Want)
	case abi.NcclSignal:
		e.Msg = fmt.Sprintf("GIN signal %d was named, and the communicator has %d", r.Seen, r.Want)
		e.Hint = "ask for more in symm.DevReqs{GinSignals: n}"
	case abi.NcclCounter:
		e.Msg = fmt.Sprintf("GIN counter %d was named, and the communicator has %d", r.Seen, r.Want)
		e.Hint = "ask for more in symm.DevReqs{GinCounters: n}"
	case abi.NcclGinBarrierIndex:
		e.Msg = fmt.Sprintf("GIN barrier %d was asked for, and the communicator has %d", r.Seen, r.Want)
		e.Hint = "ask for as many as there are blocks: symm.DevReqs{WorldGinBarriers: n}, RailGinBarriers, or Barriers for ncclBarrierSession"
	case abi.NcclLsaTeam:
		e.Msg = fmt.Sprintf("a barrier of a team of %d ranks was asked for that are not all among the %d of the LSA team", r.Seen, r.Want)
		e.Hint = "ncclTeamLsa(devComm) is those; ncclGinBarrierSession and ncclBarrierSession meet ranks of several hosts"
	case abi.NcclGinTeam:
		e.Msg = fmt.Sprintf("a GIN barrier of a team of %d ranks was asked for, and those of railGinBarrier, symm.DevReqs{RailGinBarriers: %d}, are of %d", r.Seen, r.Peer, r.Want)
		e.NoPeer, e.Hint = true, "give worldGinBarrier, and ask for it: symm.DevReqs{WorldGinBarriers: n}; or the team ncclTeamRail(devComm)"
	case abi.NcclHybridTeam:
		e.Msg = fmt.Sprintf("a GIN barrier of a team of %d ranks was asked for, and those of hybridRailGinBarrier, symm.DevReqs{Barriers: %d}, are of %d", r.Seen, r.Peer, r.Want)
		e.NoPeer, e.Hint = true, "give worldGinBarrier, and ask for it: symm.DevReqs{WorldGinBarriers: n}; or the team ncclTeamRail(devComm)"
	case abi.NcclBlock:
		e.Msg = fmt.Sprintf("low-latency block %d was asked for, and the communicator has %d", r.Seen, r.Want)
		e.Hint = "ask for more in symm.DevReqs{LLA2ABlocks: n}"
	case abi.NcclSlot:
		e.Msg = fmt.Sprintf("low-latency slot %d was asked for, and a block has %d", int64(r.Seen), r.Want)
		e.Hint = "ask for more in symm.DevReqs{LLA2ASlots: n}; a value takes a slot for each 8 bytes, maxElts apart"
	}
	return e
}

// CompileHint answers a compiler's complaint about a name that slides have and NCCL has not, which
// the header cannot.
func CompileHint(complaint string) string {
	if strings.Contains(complaint, "ncclGinFenceLevel") && strings.Contains(complaint, "relaxed") {
		return "write ncclGinFenceLevel::Relaxed, or None, which is the same"
	}
	return ""
}
