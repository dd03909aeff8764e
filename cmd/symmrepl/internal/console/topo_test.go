package console

import (
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestLinks(t *testing.T) {
	gpu := func(rank int, lines ...string) session.Answer {
		return session.Answer{Rank: rank, Text: strings.Join(lines, "\n")}
	}
	const a, b, c = "GPU 0 of the host (H, GPU-a): ", "GPU 1 of the host (H, GPU-b): ", "GPU 2 of the host (H, GPU-c): "
	const nv = "NV18, 478 GB/s each way"
	for name, test := range map[string]struct {
		answers []session.Answer
		names   [][]string
		table   string
	}{
		"cpu": {
			[]session.Answer{gpu(0, "cpu: shared memory of this host"), gpu(1, "cpu: shared memory of this host")},
			[][]string{{"", "shared memory of this host"}, {"shared memory of this host", ""}}, "all ranks: shared memory of this host",
		},
		"GPUs": {
			[]session.Answer{gpu(0, b+nv, c+"SYS"), gpu(1, a+nv, c+nv), gpu(2, a+"SYS", b+nv)},
			[][]string{{"", nv, "SYS"}, {nv, "", nv}, {"SYS", nv, ""}},
			"        rank 0  rank 1  rank 2\nrank 0  –       NV18    SYS\nrank 1  NV18    –       NV18\nrank 2  SYS     NV18    –\nNV18: 478 GB/s each way",
		},
		"more GPUs than ranks": {
			[]session.Answer{gpu(0, b+nv, c+"SYS"), gpu(1, a+nv, c+nv)}, [][]string{{"", nv}, {nv, ""}}, "all ranks: " + nv,
		},
		"two hosts": {[]session.Answer{gpu(0, a+nv), gpu(1, b+nv), gpu(2, c+nv)}, nil, ""},
		"one rank":  {[]session.Answer{gpu(0, "the only GPU of the host")}, nil, ""},
	} {
		l := linksOf(test.answers)
		if l == nil {
			if test.names != nil {
				t.Errorf("%s: no links", name)
			}
			continue
		}
		if !reflect.DeepEqual(l.names, test.names) || l.table() != test.table {
			t.Errorf("%s: %q\n%s\nwant %q\n%s", name, l.names, l.table(), test.names, test.table)
		}
		n := len(l.ranks)
		if svg := l.picture(); strings.Count(svg, "<circle") != n || strings.Count(svg, "<line") != n*(n-1)/2 || strings.Count(svg, "<rect") != len(l.kinds()) {
			t.Errorf("%s: %s", name, svg)
		}
	}
}
