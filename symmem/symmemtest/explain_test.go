package symmemtest

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem"
)

func explainCase(t *T) {
	x := symmem.Empty(symmem.F32, 1<<20)
	symmem.Rendezvous(x)
	small := func() { symmem.OneShotAllReduce(x.Slice(0, 3), "max") }
	packets := fmt.Sprintf("one_shot_all_reduce f32[3] max on world (%d ranks, 12 bytes): one shot by packets, because a small message is quickest in one trip without a barrier", t.size)
	pull := fmt.Sprintf("one_shot_all_reduce f32[1048576] sum on world (%d ranks, 4194304 bytes): one shot between barriers, because packets lengthen the message by a third, which costs a large one more than two barriers", t.size)
	t.equal("nothing", symmem.Explain(func() {}), "")
	t.equal("two calls", symmem.Explain(func() {
		t.equal("within", symmem.Explain(small), packets)
		symmem.OneShotAllReduce(x, "sum")
	}), packets+"\n"+pull)
	// A call that panics leaves nothing behind.
	t.refused(symmem.KindMisuse, func() { symmem.Explain(func() { symmem.OneShotAllReduce(x, "prod") }) }, "prod")
	small()
	t.equal("afterwards", symmem.Explain(small), packets)
	x.Free()
}
