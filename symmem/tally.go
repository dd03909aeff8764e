package symmem

// Tally sums up the stream-ordered collective calls that this rank has made in one group since the group was made
// or recovered. Such calls are not compared before they run, which would cost a trip over the host; members whose
// tallies differ have made different calls.
type Tally struct {
	Group  string // as in messages
	Key    string // equal on all members, and on no other group
	Ranks  []int  // the members
	Calls  uint64
	Digest uint64 // of what was called, on which parts of which symmetric tensors, with which arguments, in order
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
			list = append(list, Tally{g.String(), g.key, g.Ranks(), g.ordinal, uint64(g.digest), g.latest.text(), g.latest.caller})
		}
	}
	return list
}

// count numbers a collective call and adds it to the group's tally. rt.mu is held.
func (g *Group) count(c *callRecord) {
	g.ordinal++
	c.ordinal, c.caller = g.ordinal, g.rt.calls.caller()
	g.latest = *c
	d := &g.digest
	d.text(c.op)
	d.text(c.reduction)
	d.text(c.detail)
	d.mix(uint64(c.dtype))
	d.mix(uint64(c.n))
	d.mix(uint64(c.parts))
}

// on adds a part of a symmetric tensor that the call is about and that is the same on all members. Others are refused later.
func (c *callRecord) on(t *Tensor) {
	if a := t.st.alloc; a != nil {
		c.parts.mix(uint64(a.digest))
		c.parts.mix(uint64(t.offset))
	}
}

// digest tells sequences of numbers and texts from each other (FNV-1a).
type digest uint64

func (d *digest) mix(x uint64) { *d = (*d ^ 14695981039346656037 ^ digest(x)) * 1099511628211 }

func (d *digest) text(s string) {
	for i := range len(s) {
		d.mix(uint64(s[i]))
	}
	d.mix(1 << 8) // no byte: an end
}
