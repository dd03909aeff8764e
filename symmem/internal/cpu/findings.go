//go:build linux && (amd64 || arm64)

package cpu

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/cpu/emu"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Describe describes findings in words, with the lines of the accesses, and each once.
func Describe(list []emu.Finding, seed int64) []device.Finding {
	var out []device.Finding
	seen := map[string]int{}
	lines := map[string]*lineTable{}
	for _, f := range list {
		found := device.Finding{Kind: device.FindingKind(f.Kind), Address: device.Ptr(f.Address), Memory: f.Memory, Seed: seed}
		for i, p := range f.Places {
			a := access(p, lines)
			a.Bytes, a.Threads = f.Size, 1
			if i == 0 {
				a.Threads = f.Count
			}
			found.Accesses = append(found.Accesses, a)
		}
		if !explain(&found, f) {
			continue
		}
		key := keyOf(&found)
		if at, twice := seen[key]; twice {
			out[at].Accesses[0].Threads = max(out[at].Accesses[0].Threads, f.Count)
			continue
		}
		seen[key] = len(out)
		out = append(out, found)
	}
	return out
}

// keyOf returns a key that is equal for findings that count as one.
func keyOf(f *device.Finding) string {
	key := []string{f.Kind.String()}
	for _, a := range f.Accesses {
		key = append(key, fmt.Sprint(a.File, a.Line, a.Column, a.Op, a.Host, a.Kernel))
	}
	if len(key) == 3 && key[1] > key[2] {
		key[1], key[2] = key[2], key[1]
	}
	return strings.Join(key, "|")
}

// access describes an access in words.
func access(p emu.Place, lines map[string]*lineTable) device.Access {
	a := device.Access{Rank: p.Rank, Kernel: p.Kernel, Caller: p.Caller, Block: p.Block, Thread: p.Thread, Host: p.Host, Op: "reads"}
	switch {
	case p.Write && p.Atomic:
		a.Op = "writes atomically"
	case p.Write:
		a.Op = "writes"
	case p.Atomic:
		a.Op = "reads atomically"
	}
	switch {
	case p.Part == emu.Gets:
		a.Op = "by a get " + a.Op
	case p.Part != emu.NoPart && p.Atomic:
		a.Op = "by a signal " + a.Op
	case p.Part != emu.NoPart:
		a.Op = "by a put " + a.Op
	}
	if p.Module == nil {
		return a
	}
	t := lines[p.Module.Library]
	if t == nil {
		t = openLines(p.Module.Library)
		lines[p.Module.Library] = t
	}
	at := t.find(p.PC, p.Module.Name != "")
	a.File, a.Line, a.Column = at.file, at.line, at.column
	if p.Module.Name != "" && at.file == snippetFile {
		text := strings.Split(p.Module.Text, "\n")
		if at.line <= len(text) {
			a.Source = strings.TrimRight(text[at.line-1], "\r")
		}
		a.File, a.Line = p.Module.Name, at.line+p.Module.Line-1
	}
	return a
}

// explain fills in the texts of a finding. It returns false if it is not a finding after all.
func explain(f *device.Finding, from emu.Finding) bool {
	if explainWhy(f, from) {
		return true
	}
	switch f.Kind {
	case device.OutOfBounds:
		if from.Size == 0 {
			f.Accesses[0].Op = "accesses"
		}
		f.Repair = "compare the index with the number of elements before the access"
	case device.UseAfterFree:
		f.Repair = "free the tensor after the last launch that uses it"
	case device.NeverWritten:
		if f.Memory != "" { // shared memory
			f.Order = "no thread of the block has written it"
			f.Repair = "write it before it is read, and put __syncthreads() between the two if another thread writes it"
		} else {
			f.Order = "nobody has written it since it was allocated"
			f.Repair = "fill the tensor before it is read"
		}
	case device.SharedBeyond:
		f.Repair = "ask for as much by SharedBytes"
	case device.SignalNotConsumed:
		f.Accesses[0].Op, f.Accesses[0].Bytes = "waits for the value before", 0
		f.Order = "nobody had seen the value that was there when the next one was stored"
		f.Repair = "let the receiver answer before the next signal, or wait for at least a count that goes up"
	case device.DivergentBarrier:
		for i := range f.Accesses {
			f.Accesses[i].Op = "waits at"
		}
		if len(f.Accesses) == 1 {
			f.Order = "threads that should come too have left the kernel"
			f.Repair = "let all threads come to it: leave out the work, not the barrier"
			return true
		}
		a, b := &f.Accesses[0], &f.Accesses[1]
		if a.File == b.File && a.Line == b.Line {
			return false // the compiler split one access into two
		}
		f.Order = "threads of one block wait at different barriers"
		f.Repair = "let all threads of the block come to the same __syncthreads"
	case device.RaceInBlock:
		f.Order = "no barrier of the block is between them"
		f.Repair = "__syncthreads() between the two, or __syncwarp() if they are of one warp"
	case device.RaceBetweenBlocks:
		f.Order = "blocks of one launch run in any order"
		f.Repair = "use atomic operations, two launches, or a grid barrier"
	case device.RaceBetweenStreams:
		f.Order = "nothing orders the two streams" + launches(from)
		f.Repair = "Record an event on the one stream and let the other Wait for it"
	case device.RaceBetweenRanks:
		if explainPart(f, from) {
			return true
		}
		f.Order = "no barrier, signal or meeting of the ranks is between them"
		f.Repair = "symm::barrier, or symm::put_signal and symm::wait_signal, between the two"
	case device.RaceWithHost:
		f.Order = "the host does not wait for the kernel"
		f.Repair = "Synchronize, and meet the other ranks by a Barrier, between the two"
	case device.OrderTooWeak:
		if explainPart(f, from) {
			return true
		}
		if from.Why == emu.NarrowScope {
			f.Order = "a fence or an atomic operation between them reaches only the block or the device"
			f.Repair = "use __threadfence_system(), or symm::store_release and symm::load_acquire"
		} else {
			explainFence(f, from.Why)
		}
	}
	return true
}

// explainFence writes f's Order and Repair for two accesses that fences around a volatile or
// relaxed word would order.
func explainFence(f *device.Finding, why emu.Why) {
	f.Order = "only a volatile or relaxed word is between them, "
	switch why {
	case emu.NoFenceBehind:
		f.Order += "and its store has a fence before it, but its load has none behind it"
		f.Repair = "put a fence behind the load of the word, before the barrier of the block if there is one: __threadfence(), between ranks __threadfence_system(); or use symm::load_acquire"
	case emu.NoFenceBefore:
		f.Order += "and its load has a fence behind it, but no fence before its store covers the other access: one before a barrier of the block covers only its own thread's"
		f.Repair = "put a fence before the store of the word, behind the barrier of the block if there is one: __threadfence(), between ranks __threadfence_system(); or use symm::store_release"
	case emu.FenceTooEarly:
		f.Order += "and its load has no fence behind it; its store has one, but before a barrier of the block, where it covers only its own thread's accesses"
		f.Repair = "let the thread that loads the word have __threadfence() behind the load and before the barrier, and the thread that stores it between the barrier and the store; __threadfence_system() between ranks; or use symm::load_acquire and symm::store_release"
	default:
		f.Order += "without a fence on both sides"
		f.Repair = "use symm::store_release and symm::load_acquire, or put fences before the store and behind the load"
	}
}

// launches names the launches that make the accesses of a finding, if both are launches of one
// kernel; else it returns "".
func launches(from emu.Finding) string {
	if len(from.Places) != 2 || from.Places[0].Kernel != from.Places[1].Kernel || from.Places[0].Module == nil {
		return ""
	}
	a, b := from.Places[0], from.Places[1]
	return fmt.Sprintf(": the accesses are of two launches of kernel %s, number %d on stream %d and number %d on stream %d", a.Kernel,
		a.Number, a.Stream, b.Number, b.Stream)
}

// explainWhy is explain for a finding with a reason that says everything.
func explainWhy(f *device.Finding, from emu.Finding) bool {
	switch from.Why {
	case emu.FirstValue:
		f.Order = "the value that is read may count that signal or not, and a wait counts from it"
		f.Repair = "read the first value before a barrier of all, and let others signal behind it; later count from the value that ended the wait"
	case emu.TwoWidths:
		f.Order = "both are atomic, but of different widths: neither is one access for the other"
		f.Repair = "use the same type for all atomic operations on these bytes"
	case emu.SignalsPass:
		f.Order = "both signals store a value, and may arrive the other way round: then the older value stays"
		f.Repair = "let the receiver answer before the next signal, make the later signal strong if both come from one rank, or add instead of setting"
	case emu.NotInStep:
		f.Order = "threads of a warp need not run in step, and volatile accesses do not wait for each other"
		f.Repair = "__syncwarp() between the two"
	default:
		return false
	}
	return true
}

// explainPart is explain for a finding in which one of the accesses is the network's.
func explainPart(f *device.Finding, from emu.Finding) bool {
	part, scope := emu.NoPart, from.Why == emu.NarrowScope
	for _, p := range from.Places {
		part = max(part, p.Part)
		scope = scope && p.Atomic
	}
	switch {
	case part == emu.NoPart || scope:
		return false
	case part == emu.PutWrites && f.Kind == device.OrderTooWeak:
		f.Order = "only a weak signal is between them, which tells of its own put: puts before it may come later"
		f.Repair = "make the signal strong: it tells of all puts before it to that rank; or let each put have a signal of its own"
	case part == emu.PutWrites && from.Places[0].Part == part && from.Places[1].Part == part:
		f.Order = "puts may overtake each other: the older one may arrive last"
		f.Repair = "let the receiver answer, by a signal or a barrier, when it has read the data of the first put, and wait for the answer before the second"
	case from.Why == emu.PutAgain:
		f.Order = "nothing says that the reader is done: the put may arrive while it still reads"
		f.Repair = "let the reader answer, by a signal or a barrier after its read, and wait for the answer before the put"
	case part == emu.PutWrites && (!from.Places[0].Write || !from.Places[1].Write):
		f.Order = "nothing orders the put and the read: not that the put was posted, not a flush, not a weak signal of another put"
		f.Repair = "if the read is to see this put, let the put raise a signal of its own, or a strong one follow it, and wait for that before the read; if this put is the next one, let the reader answer before it"
	case part == emu.PutWrites:
		f.Order = "nothing says that the put is over there: not that it was posted, not a flush, not a weak signal of another put"
		f.Repair = "let the put raise a signal of its own, or a strong one follow it, and wait for that; or for a barrier that fences puts"
	case part == emu.PutReads:
		f.Order = "the network may read the source of a put until the put is over here"
		f.Repair = "wait for the put before: symm::flush, ncclGin::flush, or a counter"
	default:
		f.Order = "the data of a get is here when the get is over"
		f.Repair = "wait for the get before: symm::flush, ncclGin::flush, or a counter"
	}
	return true
}
