package memory

import (
	"fmt"
	"os"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Where memory is mapped anew, with its guard pages, tensors that were freed there are told of no
// more; those beside it are.
func TestRenew(t *testing.T) {
	page := device.Ptr(os.Getpagesize())
	at := 100 * page
	l := new(Locations[bytesOf])
	l.Keep()
	for i, from := range []device.Ptr{at - 3*page, at - page, at, at + 2*page, at + 3*page} {
		l.Add(from, Location[bytesOf]{At: from, Bytes: 512, What: bytesOf(100 + i), Peer: -1})
		l.Free(from, 0)
	}
	l.Renew(at+page+16, 100)
	l.Add(at+page+16, Location[bytesOf]{At: at + page + 16, Bytes: 100, What: bytesOf(100), Peer: -1})
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
		if got := l.Nearest(c.at); got != c.want {
			t.Errorf("at %#x: %s, want %s", c.at, got, c.want)
		}
	}
}

// bytesOf is a tensor of so many bytes.
type bytesOf int

func (b bytesOf) String() string         { return fmt.Sprintf("u8[%d]", int(b)) }
func (b bytesOf) Element() (string, int) { return "element", 1 }
