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
	l.Renew(at+page+16, 100, os.Getpagesize())
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

// Whatever the order of addresses, an address is described by a tensor that lives, unless it is within a
// page of one that was freed and of no other.
func TestNearest(t *testing.T) {
	page := device.Ptr(os.Getpagesize())
	at := 100 * page
	freed, lives := true, false
	type tensor struct {
		from  device.Ptr
		bytes int
		freed bool
	}
	for _, c := range []struct {
		name string
		list []tensor
		want string
	}{
		{"nothing", nil, ""},
		{"one far away", []tensor{{at + nearestFar, 8, lives}}, ""},
		{"a freed one ends there, one begins soon", []tensor{{at - 64, 64, freed}, {at + 4, 8, lives}}, "4 bytes in front of u8[8]"},
		{"it is in a freed one, one ended before", []tensor{{at - 4, 64, freed}, {at - 16, 8, lives}}, "8 bytes behind u8[8], where element 16 would be"},
		{"a freed one is nearer, within a page of none", []tensor{{at - 3*page, 64, freed}, {at - 16*page, 8, lives}},
			"65528 bytes behind u8[8], where element 65536 would be"},
		{"a freed one within a page", []tensor{{at - 100, 64, freed}, {at - 2*page, 8, lives}}, "36 bytes behind u8[64], which was freed, where element 100 would be"},
		{"only a freed one", []tensor{{at + 2*page, 64, freed}}, "8192 bytes in front of u8[64], which was freed"},
		{"between two", []tensor{{at - 72, 64, lives}, {at + 8, 32, lives}}, "8 bytes behind u8[64], where element 72 would be"},
		{"two of which one begins where the other does not end", []tensor{{at - 64, 64, lives}, {at - 32, 32, lives}}, "right behind u8[64], where element 64 would be"},
	} {
		for range 20 { // a map has no order
			l := new(Locations[bytesOf])
			l.Keep()
			for _, o := range c.list {
				l.Add(o.from, Location[bytesOf]{At: o.from, Bytes: o.bytes, What: bytesOf(o.bytes), Peer: -1})
				if o.freed {
					l.Free(o.from, 0)
				}
			}
			if got := l.Nearest(at); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
				break
			}
		}
	}
}

// bytesOf is a tensor of so many bytes.
type bytesOf int

func (b bytesOf) String() string         { return fmt.Sprintf("u8[%d]", int(b)) }
func (b bytesOf) Element() (string, int) { return "element", 1 }
