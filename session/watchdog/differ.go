package watchdog

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/rankset"
)

// callsDiffer names the ranks that have made another call in place of the call in which a rank
// waits, by the number of the call in its group: "rank 0,2 made another call #1 in world:
// one_shot_all_reduce". It returns "" if no such rank is known. waits are the waits of the rank.
func (w *Watch) callsDiffer(cell *Snapshot, waits []session.Wait) string {
	made, order := map[string][]int{}, []string(nil)
	note := func(rank int, mine session.Wait, op, at string) {
		name := operation(op)
		if name == operation(mine.Op) {
			return
		}
		text := fmt.Sprintf("made another call #%d in %s: %s", mine.Ordinal, mine.Group, name)
		if at != "" {
			text += " at " + at
		}
		if made[text] == nil {
			order = append(order, text)
		}
		made[text] = rankset.Union(made[text], []int{rank})
	}
	for _, mine := range waits {
		if mine.Ordinal == 0 {
			continue
		}
		for _, rank := range cell.members() {
			for _, t := range cell.Ranks[rank].Tallies {
				if t.Group == mine.Group && t.Calls == mine.Ordinal {
					note(rank, mine, t.Last, t.At)
				}
			}
			if a := w.stuck.last[rank]; a != nil && cell.runs(rank) {
				for _, its := range a.Waits {
					if its.Group == mine.Group && its.Ordinal == mine.Ordinal {
						note(rank, mine, its.Op, its.At)
					}
				}
			}
		}
	}
	for i, text := range order {
		order[i] = fmt.Sprintf("rank %s %s", session.FormatRanks(made[text]), text)
	}
	return strings.Join(order, "; ")
}

// operation returns the name of a call's operation without its arguments.
func operation(call string) string {
	name, _, _ := strings.Cut(call, " ")
	return name
}
