package places

import (
	"slices"
	"sync"
)

// Departures lists ranks whose processes have ended, in order. Its methods may be called from
// several goroutines.
type Departures struct {
	mu   sync.Mutex
	list []Departure
}

// Departure is the end of a rank's process.
type Departure struct {
	Rank int
	Why  string // "died"
}

// Add adds a rank.
func (d *Departures) Add(rank int, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, Departure{rank, why})
}

// All lists the ranks.
func (d *Departures) All() []Departure {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}
