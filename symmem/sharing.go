package symmem

import core "github.com/symmrepl/symmrepl/symmem/internal/core"

// Sharing lists the ranks of the world that use the same GPU. Operations have the same results
// there and take longer: the processes that share a GPU run in turns of about 2 ms. Under NVIDIA's
// MPS their kernels run side by side, each rank's on its part of the multiprocessors.
type Sharing = core.Sharing

// Sharing lists the ranks of the world that use the same GPU: none while this rank joins.
func (rt *Runtime) Sharing() Sharing { return rt.core.Sharing() }
