package symmem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/symmrepl/symmrepl/internal/bootstrap"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
)

// exported is the message of ExportTo.
type exported struct {
	Rank   int    `json:"rank"`
	GPU    string `json:"gpu"`    // its UUID, as nvidia-smi -L lists it
	Size   int    `json:"size"`   // bytes of the memory that the descriptor refers to
	Offset int    `json:"offset"` // of the first element, in bytes
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
}

// ExportTo sends the memory of a symmetric tensor to a process of this user and host, which listens
// at a Unix socket. The process gets one line of JSON and, with it, a descriptor that
// cuMemImportFromShareableHandle takes, a POSIX file descriptor. It then maps the memory itself: what
// either process writes is seen by both. The line has the fields rank; gpu, its UUID; size, the bytes
// of the memory; offset, where the elements begin; dtype; and shape.
//
// ExportTo waits for all work of this rank. It does not wait for the other process. The tensor then
// lives until Free. Free does not take the memory away from the other process, unless a memory pool
// owns it: see [Runtime.UseMemPool].
//
// Errors: KindMisuse for a tensor in memory that cannot be shared so: of the cpu device, of Local or
// Host, of another rank, of NVSHMEM's heap; and for a socket at which no process listens. KindSystem
// if the memory cannot be sent.
func (t *Tensor) ExportTo(socket string) {
	const op = "ExportTo"
	t.usable(op)
	rt := t.rt
	rt.hostCall(op)
	place, err := rt.dev.Place()
	rt.raise(op, err)
	switch a := t.st.alloc; {
	case place.ID == "":
		panic(rt.misuse(op, "tensor", "take a copy, or start the session on GPUs",
			"the tensor %v is on the cpu device, in no memory of a GPU", t.kind()))
	case t.st.peer != rt.rank:
		panic(rt.misuse(op, "tensor", fmt.Sprintf("make this call on rank %d", t.st.peer),
			"the tensor %v is memory of rank %d", t.kind(), t.st.peer))
	case a == nil:
		panic(rt.misuse(op, "tensor", "copy it to a tensor of Empty, or take a copy",
			"the tensor %v is in %s memory, which other processes cannot map", t.kind(), t.Memory()))
	case a.inHeap():
		panic(rt.misuse(op, "tensor", "take a copy, or use the back end CUDA from the start",
			"the tensor %v is in NVSHMEM's heap, which other processes cannot map", t.kind()))
	}
	rt.synchronize(op)
	seg := t.st.alloc.seg
	message, err := json.Marshal(exported{Rank: rt.rank, GPU: place.ID, Size: seg.Size(), Offset: int(t.pointer() - seg.Ptr()),
		DType: t.dtype.String(), Shape: append([]int{}, t.shape...)})
	rt.raise(op, err)
	f, err := memory.Export(seg)
	rt.raise(op, err)
	defer f.Close()
	rt.mu.Lock()
	t.st.alloc.lasts = true
	rt.mu.Unlock()
	if err := bootstrap.SendFile(context.Background(), socket, append(message, '\n'), f); err != nil {
		e := rt.failure(op, err)
		var unreached *net.OpError
		if e.Hint == "" && errors.As(err, &unreached) && unreached.Op == "dial" {
			e.Kind, e.Arg, e.Hint = KindMisuse, "socket", "a process on the host of this rank must listen there; Save gives a copy to any process"
		}
		panic(e)
	}
}
