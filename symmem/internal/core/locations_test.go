package symmem

import (
	"os"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Where memory is mapped anew, with its guard pages, tensors that were freed there are told of no more; those beside it are.
func TestRenew(t *testing.T) {
	page := device.Ptr(os.Getpagesize())
	at := 100 * page
	l := locations{list: map[device.Ptr]location{}}
	for i, from := range []device.Ptr{at - 3*page, at - page, at, at + 2*page, at + 3*page} {
		l.add(from, location{at: from, bytes: 512, dtype: U8, shape: []int{100 + i}, peer: -1})
		l.freed(from, 0)
	}
	l.renew(at+page+16, 100)
	l.add(at+page+16, location{at: at + page + 16, bytes: 100, dtype: U8, shape: []int{100}, peer: -1})
	for _, c := range []struct {
		at   device.Ptr
		want string
	}{
		{at - 3*page, "in u8[100], which was freed"},
		{at - page, "in u8[101], which was freed"},
		{at + page + 12, "4 bytes in front of u8[100]"},
		{at + page - 16, "32 bytes in front of u8[100]"},
		{at + 2*page, "3980 bytes behind u8[100], where element 4080 would be"},
		{at + 3*page, "in u8[104], which was freed"},
	} {
		if got := l.nearest(c.at); got != c.want {
			t.Errorf("at %#x: %s, want %s", c.at, got, c.want)
		}
	}
}
