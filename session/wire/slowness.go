package wire

import "time"

// The bounds of a slowness: a short look says little about the next seconds, and a report of a rank
// that waits in vain must come in the end.
const leastSlowness, mostSlowness = 8, 64

// Slowness is the factor by which a worker runs slower because its threads wait for processors; 0 if they
// do not wait for much of the time.
type Slowness float64

// SlownessOf returns the slowness of a worker whose threads have run and waited for these times.
func SlownessOf(ran, waited time.Duration) Slowness {
	return Slowness(min(max(float64(ran+waited)/float64(max(ran, 1)), leastSlowness), mostSlowness))
}

// Stretch returns the time that a slow worker needs for work that takes other workers d.
func (s Slowness) Stretch(d time.Duration) time.Duration {
	return time.Duration(max(float64(s), 1) * float64(d))
}

// Shrink returns the time that other workers need for work that takes a slow worker d.
func (s Slowness) Shrink(d time.Duration) time.Duration {
	return time.Duration(float64(d) / max(float64(s), 1))
}
