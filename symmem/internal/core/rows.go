package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/core/seam"

// What a world is made of
//
// Whatever ends, begins anew or is asked of all parts is one loop over them, and every call is carried
// by the first carrier that takes it. A library, a network or memory of a new sort is one more row here.

// madeOf returns the parts of the world. Each may use those before it until it is closed itself.
func (rt *Runtime) madeOf() []seam.Part[*Group, *allocation] {
	own := part{rt: rt}
	return []seam.Part[*Group, *allocation]{
		streamPart{own}, groupPart{own}, apart{rt.heap}, apart{&rt.shmem.table}, memoryPart{own}, networkPart{own}, ncclPart{own},
		slowPart{own},
	}
}

// carriedBy returns the carriers of calls. The last one takes all calls that the others do not take.
func (rt *Runtime) carriedBy() []carrier {
	return []carrier{byLibrary{rt.heap}, ncclCarrier{}, networkCarrier{}, kernelCarrier{}}
}
