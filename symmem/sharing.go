package symmem

import core "github.com/symmrepl/symmrepl/symmem/internal/core"

// Sharing tells which ranks of the world use the same GPU. Operations have the same results there and take longer: the processes that share
// a GPU run in turns of about 2 ms. Under NVIDIA's MPS their kernels run side by side, each rank's on its part of the multiprocessors.
type Sharing = core.Sharing

// Sharing tells which ranks of the world use the same GPU: none, while this rank joins.
func (rt *Runtime) Sharing() Sharing { return rt.core.Sharing() }
