package measure

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

func floats(values ...float32) (data []byte) {
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}

func TestCompare(t *testing.T) {
	next := math.Nextafter32(1, 2)
	if d := Compare(element.F32, floats(1, 2), floats(1, 2)); d != nil {
		t.Errorf("equal bytes differ: %v", d)
	}
	d := Compare(element.F32, floats(0, next, 2, 4), floats(0, 1, 2, 2))
	if d == nil || *d != (Difference{Element: 1, Got: "1.0000001192092896", Want: "1", ULPs: 1, Most: 1 << 23, Count: 2}) {
		t.Errorf("floats: %+v", d)
	}
	tiny := math.SmallestNonzeroFloat32
	if d := Compare(element.F32, floats(float32(tiny)), floats(float32(-tiny))); d.ULPs != 2 {
		t.Errorf("on either side of 0: %+v", d)
	}
	if d := Compare(element.I32, []byte{255, 255, 255, 255, 7, 0, 0, 0},
		[]byte{255, 255, 255, 255, 8, 0, 0, 0}); *d != (Difference{Element: 1, Got: "7", Want: "8", Count: 1}) {
		t.Errorf("integers: %+v", d)
	}
	if d := Compare(element.U64, []byte{255, 255, 255, 255, 255, 255, 255, 255}, make([]byte, 8)); d.Got != "18446744073709551615" {
		t.Errorf("large integers: %+v", d)
	}
}

func TestComparison(t *testing.T) {
	first := &Difference{Rank: 1, Result: "f32[4], tensor 1 of the calls", Element: 1, Got: "1.5", Want: "1", ULPs: 3, Most: 7, Count: 2}
	merged := Merge([]*Difference{nil, first, {Most: 9, Count: 3}})
	c := Comparison{[]Way{{Name: "as chosen", Took: 12345 * time.Nanosecond}, {Name: "flat", Took: time.Microsecond},
		{Name: "NCCL", Refused: "there is none"}, {Name: "code 2", Took: time.Microsecond, Differs: merged}}}
	want := `as chosen     12.35µs  the others are compared with it
flat              1µs  equal
NCCL                -  cannot: there is none
code 2            1µs  differs: element 1 of f32[4], tensor 1 of the calls, on rank 1: 1.5, not 1, 3 ulps apart; 5 elements differ, 9 ulps at most`
	if got := c.String(); got != want || c.Same() {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if c.Ways = c.Ways[:3]; !c.Same() {
		t.Error("a way that cannot run counts as different")
	}
	if got := (Comparison{}).String(); got != "nothing was compared" {
		t.Errorf("nothing prints as %q", got)
	}
}
