package cuda

import (
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda/libs"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// newestMajor is the newest major version of CUDA whose NVRTC is preferred where no driver says
// what it can load.
const newestMajor = 13

// Cubin compiles a snippet for an architecture such as "sm_90" by NVRTC, which needs no GPU.
func Cubin(src device.Source, arch string) ([]byte, error) {
	_, unit, unread := snippet(src)
	b, err := cubin.New(libs.ThisHost(), arch, newestMajor, "").Compile(unit)
	if err == nil && unread != nil {
		err = unread
	}
	return b.Cubin, err
}
