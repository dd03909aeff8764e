package cubin

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestEntries(t *testing.T) {
	want := Binary{Cubin: []byte{0, 1, 2, '\n', 255}, Lowered: map[string]string{"a::k": "_ZN1a1kEv"}}
	got, err := decode(encode(want))
	if err != nil || !slices.Equal(got.Cubin, want.Cubin) || !maps.Equal(got.Lowered, want.Lowered) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(Binary{Cubin: []byte("code"), Lowered: map[string]string{"k": "_Z1kv"}}))
	f.Add(encode(Binary{}))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(encode(b))
		if err != nil || !slices.Equal(again.Cubin, b.Cubin) || !maps.Equal(again.Lowered, b.Lowered) {
			t.Errorf("%v became %v (%v)", b, again, err)
		}
	})
}

func FuzzDiagnose(f *testing.F) {
	f.Add("cell[3](7): error: identifier \"x\" is undefined\n  \tx = 1;\n  \t^\n\n1 error detected", "a\n\tx = 1;\n", 6)
	f.Add("cell[3](99999999999999999999): error: e\n", "", 1)
	f.Add("ptxas fatal   : Ptx assembly aborted due to errors", "x", 1)
	f.Fuzz(func(t *testing.T, log, text string, line int) {
		for _, d := range diagnose(log, Unit{Name: "cell[3]", Line: line, Text: text}) {
			if d.Column < 0 || strings.Contains(d.Text, "\n") || strings.Contains(d.Source, "\n") {
				t.Errorf("%q gives %+v", log, d)
			}
			_ = d.String()
		}
	})
}
