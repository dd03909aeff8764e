package symmem

// Tally sums up the stream-ordered collective calls that this rank has made in one group since the group was made
// or recovered. Such calls are not compared before they run, which would cost a trip over the host; members whose
// tallies differ have made different calls.
type Tally struct {
	Group  string // as in messages
	Key    string // equal on all members, and on no other group
	Ranks  []int  // the members
	Calls  uint64
	Digest uint64 // of what was called, with which arguments, in order
	Last   string // "one_shot_all_reduce bf16[16] sum"
	Caller int    // where that was called, as Config.Caller said
}

// Tallies returns the tally of every group in which this rank has made a call.
func (rt *Runtime) Tallies() []Tally {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var list []Tally
	for _, g := range rt.groups {
		if g.ordinal > 0 {
			list = append(list, Tally{g.String(), g.key, g.Ranks(), g.ordinal, g.digest, g.latest.text(), g.latest.caller})
		}
	}
	return list
}

// count numbers a collective call and adds it to the group's tally. rt.mu is held.
func (g *Group) count(c *call) {
	g.ordinal++
	c.ordinal, c.caller = g.ordinal, g.rt.calls.caller()
	g.latest = *c
	h := g.digest ^ 14695981039346656037 // FNV-1a
	mix := func(x uint64) { h = (h ^ x) * 1099511628211 }
	for i := range len(c.op) {
		mix(uint64(c.op[i]))
	}
	for i := range len(c.reduction) {
		mix(uint64(c.reduction[i]))
	}
	for i := range len(c.detail) {
		mix(uint64(c.detail[i]))
	}
	mix(uint64(c.dtype))
	mix(uint64(c.n))
	g.digest = h
}
