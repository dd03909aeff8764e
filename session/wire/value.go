package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/session"
)

// EncodeValue returns the value of a result as the payload of a Done: a RichValue if it has
// other forms than text. Forms that cannot be encoded are left out, and, if they take more than most
// bytes, the largest ones first; the text then says so.
func EncodeValue(r session.Result, most int) (payload []byte, rich bool) {
	text := Clip(r.Value, maxValue)
	if r.Data == nil {
		return []byte(text), false
	}
	v := RichValue{text, maps.Clone(r.Data), r.Metadata}
	leaveOut := func(form, why string) {
		delete(v.Data, form)
		v.Text += fmt.Sprintf("\n(%s is left out: %s)", form, why)
	}
	sizes := map[string]int{}
	for _, form := range slices.Sorted(maps.Keys(v.Data)) {
		b, err := json.Marshal(v.Data[form])
		if err != nil {
			leaveOut(form, err.Error())
			continue
		}
		sizes[form] = len(b)
	}
	for {
		payload, err := json.Marshal(v)
		switch {
		case err != nil:
			v.Metadata = nil
			v.Text += fmt.Sprintf("\n(its metadata is left out: %v)", err)
		case len(payload) <= most:
			return payload, true
		case len(v.Data) == 0:
			return []byte(v.Text), false
		default:
			largest := slices.MaxFunc(slices.Sorted(maps.Keys(v.Data)), func(a, b string) int { return sizes[a] - sizes[b] })
			leaveOut(largest, fmt.Sprintf("it takes %d MiB, and all forms of a value may take %d", sizes[largest]>>20, most>>20))
		}
	}
}
