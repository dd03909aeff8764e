package bootstrap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/internal/shortdir"
)

func TestParseParts(t *testing.T) {
	for _, test := range []struct {
		text  string
		ranks int
		hosts int
		want  string
	}{
		{"", 4, 1, ""}, {"1", 4, 1, ""}, {"0-3", 4, 1, ""}, {"2", 8, 2, "0-3/4-7"}, {"0-3/4-7", 8, 2, "0-3/4-7"},
		{" 0,1 / 2,3 ", 4, 2, "0-1/2-3"},
		{"4", 4, 4, "0/1/2/3"}, {"0/1/2/3", 4, 4, "0/1/2/3"}, {"0-1,2/3,4-5", 6, 2, "0-2/3-5"},
	} {
		p, err := ParseParts(test.text, test.ranks)
		if err != nil || p.Hosts() != test.hosts || p.String() != test.want {
			t.Errorf("%q of %d: %d hosts %q, %v", test.text, test.ranks, p.Hosts(), p, err)
		}
	}
	const equal, ordered = "each must have as many as the others", "list the ranks in order, each once"
	for _, test := range []struct {
		text  string
		ranks int
		want  string
	}{
		{"3", 4, `hosts "3": 4 ranks cannot be divided among 3 hosts: ` + equal},
		{"8", 4, "4 ranks cannot be divided among 8 hosts: " + equal},
		{"0", 4, "write a number of hosts, such as 2, or the ranks of each, such as 0-3/4-7"},
		{"two", 4, "write a number of hosts"},
		{"0-2/3", 4, `hosts "0-2/3": host 1 has 1 ranks and host 0 has 3: ` + equal},
		{"0,2/1,3", 4, "rank 1 is expected, not 2: " + ordered},
		{"0-1/1-2", 3, "rank 2 is expected, not 1: " + ordered},
		{"0-1/2-3", 8, "rank 4 has no host"},
		{"0-3/4-7", 4, "rank 7 does not exist: ranks are 0 to 3"},
		{"0-1/", 4, `"" is not a rank or a range of ranks such as 0-3`},
		{"1-0/2-3", 4, `"1-0" is not a rank`},
		{"-1/2", 4, `"-1" is not a rank`},
	} {
		if p, err := ParseParts(test.text, test.ranks); err == nil || !strings.Contains(err.Error(), test.want) || p != (Parts{}) {
			t.Errorf("%q of %d: %v, %v", test.text, test.ranks, p, err)
		}
	}
}

// An accepted text gives every host the same number of consecutive ranks, and String returns a text
// that is read back to the same Parts.
func FuzzParseParts(f *testing.F) {
	for _, s := range []string{"2", "0-3/4-7", "0,1/2,3", "1", "0/1", "-", "0-9999999999999999999", "/"} {
		f.Add(s, 8)
	}
	f.Fuzz(func(t *testing.T, text string, ranks int) {
		ranks = ranks&15 + 1
		p, err := ParseParts(text, ranks)
		if err != nil {
			return
		}
		count := map[int]int{}
		for r := range ranks {
			count[p.Of(r)]++
			if r > 0 && p.Of(r) != p.Of(r-1) && p.Of(r) != p.Of(r-1)+1 {
				t.Fatalf("%q of %d: rank %d is on host %d", text, ranks, r, p.Of(r))
			}
		}
		for host, n := range count {
			if n*p.Hosts() != ranks || host >= p.Hosts() {
				t.Fatalf("%q of %d: host %d has %d ranks", text, ranks, host, n)
			}
		}
		if again, err := ParseParts(p.String(), ranks); err != nil || again != p {
			t.Fatalf("%q of %d: %v is read back as %v, %v", text, ranks, p, again, err)
		}
	})
}

func twoParts(t *testing.T) Parts {
	p, err := ParseParts("2", 4)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Ranks of simulated hosts are apart although they see each other's directories.
func TestSimulatedHosts(t *testing.T) {
	ctx := bounded(t)
	w := newWorldOf(t, 4, twoParts(t))
	for ordinal, test := range []struct {
		group []int
		want  [][]int
	}{
		{[]int{0, 1, 2, 3}, [][]int{{0, 1}, {2, 3}}},
		{[]int{1, 2}, [][]int{{1}, {2}}},
		{[]int{2, 3}, [][]int{{2, 3}}},
	} {
		for i, err := range w.each(test.group, func(c *Client) error {
			got, err := c.Hosts(ctx, call(uint64(ordinal), test.group...))
			if err == nil && !reflect.DeepEqual(got, test.want) {
				t.Errorf("rank %d of %v: hosts %v, want %v", c.Rank(), test.group, got, test.want)
			}
			return err
		}) {
			if err != nil {
				t.Errorf("rank %d: %v", test.group[i], err)
			}
		}
	}
	if a, b := w.clients[1].dir, w.clients[2].dir; filepath.Base(a) != "h0" || filepath.Base(b) != "h1" || filepath.Dir(a) != filepath.Dir(b) {
		t.Errorf("the directories of ranks 1 and 2 are %s and %s", a, b)
	}
}

// A file goes only to the ranks of its part, even if others ask for it.
func TestFilesStayInTheirPart(t *testing.T) {
	ctx := bounded(t)
	w := newWorldOf(t, 4, twoParts(t))
	share := func(group ...int) []error {
		return w.each(group, func(c *Client) error {
			f, err := os.Open(os.DevNull)
			if err != nil {
				return err
			}
			defer f.Close()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			files, err := c.GatherFiles(ctx, call(0, group...), f)
			closeFiles(files)
			return err
		})
	}
	for i, err := range share(2, 3) {
		if err != nil {
			t.Errorf("rank %d: %v", 2+i, err)
		}
	}
	for i, err := range share(1, 2) {
		var failed *FileError
		if peer := 2 - i; !errors.As(err, &failed) || failed.Peer != peer ||
			!strings.HasSuffix(err.Error(), "it has given up this call, and its own error says why") {
			t.Errorf("rank %d: %v", 1+i, err)
		}
	}
}

// Hosts can be simulated only on a single host, and all ranks must simulate the same hosts.
func TestSimulatedHostsAreRefused(t *testing.T) {
	ctx := bounded(t)
	w := newWorldOf(t, 4, twoParts(t))
	w.clients[3].dir = filepath.Join(shortdir.New(t), "elsewhere")
	for r, err := range w.each([]int{0, 1, 2, 3}, func(c *Client) error { _, err := c.Hosts(ctx, call(0, 0, 1, 2, 3)); return err }) {
		var several *SeveralHostsError
		const want = "the hosts 0-1/2-3 cannot be simulated: the ranks are on 2 hosts already, [[0 1 2] [3]]"
		if !errors.As(err, &several) || err.Error() != want {
			t.Errorf("rank %d: %v, want %s", r, err, want)
		}
	}
	w.clients[3].parts = Parts{}
	for r, err := range w.each([]int{0, 1, 2, 3}, func(c *Client) error { _, err := c.Hosts(ctx, call(1, 0, 1, 2, 3)); return err }) {
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "hosts 0-1/2-3") {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
