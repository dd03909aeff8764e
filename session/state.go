package session

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/symmrepl/symmrepl/session/rankset"
)

// RankState is the state of one rank at one moment: the answer to TopicState. RankInfo describes
// the code of the rank's cell.
type RankState struct {
	Variables []Variable   // as TopicVars lists them
	Streams   []StreamInfo `json:",omitempty"`
	Groups    []GroupInfo  `json:",omitempty"` // that are alive, the world first
	Words     []WordInfo   `json:",omitempty"` // words of signal pads that are not 0
	Waits     []Wait       `json:",omitempty"` // calls that wait, on the device or on the host
	Busy      []Busy       `json:",omitempty"` // the user's kernels that have run for a while
	// Locked reports whether Groups and Words are unknown now, because a call of the rank is being
	// put in a stream whose queue is full.
	Locked bool `json:",omitempty"`
}

// StreamInfo describes a stream of a rank's device.
type StreamInfo struct {
	ID    int    `json:"id"`
	Rests bool   `json:"rests,omitempty"` // it has nothing to do
	Runs  string `json:"runs,omitempty"`  // the call in which it waits: "wait_signal"
	At    string `json:"at,omitempty"`    // position of that call in the user's text: "cell[3]:7"
}

// GroupInfo describes a group.
type GroupInfo struct {
	Name     string       `json:"name"`    // "world", "group 0,2"
	Members  []int        `json:"members"` // world ranks
	Channels int          `json:"channels"`
	Calls    uint64       `json:"calls"`             // the rank's stream-ordered collective calls
	Last     string       `json:"last,omitempty"`    // the latest of them: "one_shot_all_reduce bf16[16] sum"
	At       string       `json:"at,omitempty"`      // position of Last in the user's text
	Stale    string       `json:"stale,omitempty"`   // why the group cannot be used any more
	Signals  []SignalInfo `json:"signals,omitempty"` // put to the rank, and consumed by no wait
}

// SignalInfo is a signal of a group that no wait has consumed.
type SignalInfo struct {
	From    int `json:"from"` // world rank
	Channel int `json:"channel"`
}

// WordInfo is a word of the signal pad of a symmetric tensor that is not 0.
type WordInfo struct {
	Tensor string `json:"tensor"` // "f32[4]"
	Word   int    `json:"word"`
	Value  uint64 `json:"value"`
}

// State is the state of all ranks, as front ends show it: facts that are equal on several ranks are
// there once, with these ranks.
type State struct {
	Ranks     []RankInfo
	Variables []SharedVariable     // those of one name follow each other, in the order of definition
	Streams   []Shared[StreamInfo] // by ID
	Groups    []Shared[GroupInfo]
	Words     []Shared[WordInfo]
	Waits     []Shared[Wait] // Since and Seen are the values of the first of the ranks
	Busy      []Shared[Busy] // Since is the value of the first of the ranks
	Locked    []int          // ranks whose groups and words are not known: see RankState
	Errors    []*Error       // of ranks that did not answer
}

// Shared is a fact that is equal on Ranks.
type Shared[T any] struct {
	Ranks []int // ascending
	Value T
}

// SharedVariable is a variable that a table shows in the same way for Ranks.
type SharedVariable struct {
	Ranks []int // ascending
	// Differs reports whether some of the ranks that were asked lack the variable or have it in
	// another way.
	Differs bool
	Variable
}

// StateOf asks ranks (nil: all) for their state. The answers run no user code and wait for no cell:
// StateOf may be called while one runs. columns is the width of values, as in Query.
func StateOf(ctx context.Context, s Session, ranks []int, columns int) (State, error) {
	infos, err := s.Ranks(ctx)
	if err != nil {
		return State{}, err
	}
	answers, err := s.Inspect(ctx, ranks, Query{Topic: TopicState, Columns: columns})
	if err != nil {
		return State{}, err
	}
	state := foldState(answers)
	for _, info := range infos {
		if ranks == nil || slices.Contains(ranks, info.Rank) {
			state.Ranks = append(state.Ranks, info)
		}
	}
	return state, nil
}

// foldState folds the states of ranks.
func foldState(answers []Answer) (s State) {
	s.Variables = FoldVariables(answers)
	var streams sharing[StreamInfo]
	var groups sharing[GroupInfo]
	var words sharing[WordInfo]
	waits := sharing[Wait]{ignore: func(w *Wait) { w.Since, w.Seen = 0, 0 }}
	busy := sharing[Busy]{ignore: func(b *Busy) { b.Since, b.Seen = 0, 0 }}
	for _, a := range answers {
		switch {
		case a.Err != nil:
			s.Errors = append(s.Errors, a.Err)
			continue
		case a.State == nil:
			continue
		case a.State.Locked:
			s.Locked = append(s.Locked, a.Rank)
		}
		streams.add(a.Rank, a.State.Streams)
		groups.add(a.Rank, a.State.Groups)
		words.add(a.Rank, a.State.Words)
		waits.add(a.Rank, a.State.Waits)
		busy.add(a.Rank, a.State.Busy)
	}
	s.Streams, s.Groups, s.Words, s.Waits, s.Busy = streams.list, groups.list, words.list, waits.list, busy.list
	slices.SortStableFunc(s.Streams, func(a, b Shared[StreamInfo]) int { return a.Value.ID - b.Value.ID })
	return s
}

// sharing collects facts of one kind from ranks.
type sharing[T any] struct {
	list   []Shared[T]
	at     map[string]int // places in list, by the fact as JSON
	ignore func(*T)       // unless nil, clears the fields in which equal facts may differ
}

// add adds the facts of a rank.
func (s *sharing[T]) add(rank int, facts []T) {
	for _, fact := range facts {
		same := fact
		if s.ignore != nil {
			s.ignore(&same)
		}
		key, _ := json.Marshal(same) // fails for no type of facts
		i, known := s.at[string(key)]
		if !known {
			if s.at == nil {
				s.at = map[string]int{}
			}
			i = len(s.list)
			s.at[string(key)] = i
			s.list = append(s.list, Shared[T]{Value: fact})
		}
		if of := &s.list[i]; !rankset.Contains(of.Ranks, rank) {
			of.Ranks = append(of.Ranks, rank)
		}
	}
}

// FoldVariables folds the variables in the answers to TopicVars or TopicState: each one that a
// table shows differently is there once, and those of one name follow each other.
func FoldVariables(answers []Answer) []SharedVariable {
	type shown struct {
		name, kind, value string
		size              int64
	}
	var list []SharedVariable
	at := map[shown]int{}        // places in list
	order := map[string]int{}    // of names
	versions := map[string]int{} // by name
	asked := 0
	for _, a := range answers {
		variables := a.Variables
		if a.State != nil {
			variables = a.State.Variables
		}
		if a.Err == nil {
			asked++
		}
		for _, v := range variables {
			key := shown{v.Name, v.Type, v.Value, v.Size}
			i, known := at[key]
			if !known {
				i = len(list)
				at[key] = i
				list = append(list, SharedVariable{Variable: v})
				versions[v.Name]++
			}
			list[i].Ranks = append(list[i].Ranks, a.Rank)
			if _, known := order[v.Name]; !known {
				order[v.Name] = len(order)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b SharedVariable) int { return order[a.Name] - order[b.Name] })
	for i := range list {
		list[i].Differs = versions[list[i].Name] > 1 || len(list[i].Ranks) < asked
	}
	return list
}

// Differing returns the names of the variables that are not equal on all ranks, in the order of
// definition.
func (s State) Differing() (names []string) {
	for _, v := range s.Variables {
		if v.Differs && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}
