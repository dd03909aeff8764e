package command

import (
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestLinks(t *testing.T) {
	const shared, other = "shared memory of this host", "other host, nothing carries traffic to it"
	gpu := func(rank int, id string, links ...session.Link) session.Answer {
		return session.Answer{Rank: rank, Topology: &session.Topology{Device: "cuda:0", ID: id, Links: links}}
	}
	cpu := func(rank int) session.Answer {
		return session.Answer{Rank: rank, Topology: &session.Topology{Device: "cpu", Medium: "shared memory of this host"}}
	}
	onHost := func(rank, host int) session.Answer {
		return session.Answer{Rank: rank, Topology: &session.Topology{Device: "cpu", Medium: shared, Host: host, Between: "nothing"}}
	}
	const same, apart = "the same GPU, in turns by time slices", "not mapped, UCX 1.22.0 over lo carries traffic to it"
	sharing := func(rank int, id string, links ...session.Link) session.Answer {
		answer := gpu(rank, id, links...)
		answer.Topology.Sharers, answer.Topology.Manner = []int{0, 1}, "in turns by time slices"
		return answer
	}
	inPart := func(answer session.Answer, part int) session.Answer {
		answer.Topology.Part, answer.Topology.Between = part, "UCX 1.22.0 over lo"
		return answer
	}
	const a, b, c, nv = "GPU-a", "GPU-b", "GPU-c", "NV18, 478 GB/s each way"
	nvlink := func(id string) session.Link { return session.Link{ID: id, Kind: "NV18", Rate: 478} }
	system := func(id string) session.Link { return session.Link{ID: id, Kind: "SYS"} }
	for name, test := range map[string]struct {
		answers []session.Answer
		names   [][]string
		table   string
	}{
		"cpu": {
			[]session.Answer{cpu(0), cpu(1)},
			[][]string{{"", "shared memory of this host"}, {"shared memory of this host", ""}}, "all ranks: shared memory of this host",
		},
		"GPUs": {
			[]session.Answer{gpu(0, a, nvlink(b), system(c)), gpu(1, b, nvlink(a), nvlink(c)), gpu(2, c, system(a), nvlink(b))},
			[][]string{{"", nv, "SYS"}, {nv, "", nv}, {"SYS", nv, ""}},
			"        rank 0  rank 1  rank 2\nrank 0  –       NV18    SYS\nrank 1  NV18    –       NV18\nrank 2  SYS     NV18    –\nNV18: 478 GB/s each way",
		},
		"more GPUs than ranks": {
			[]session.Answer{gpu(0, a, nvlink(b), system(c)), gpu(1, b, nvlink(a), nvlink(c))}, [][]string{{"", nv}, {nv, ""}},
			"all ranks: " + nv,
		},
		"one GPU of several ranks": {
			[]session.Answer{sharing(0, a, nvlink(b)), sharing(1, a, nvlink(b))}, [][]string{{"", same}, {same, ""}}, "all ranks: " + same,
		},
		"two GPUs of several ranks": {
			[]session.Answer{sharing(0, a, nvlink(b)), sharing(1, a, nvlink(b)), gpu(2, b, nvlink(a))},
			[][]string{{"", same, nv}, {same, "", nv}, {nv, nv, ""}},
			"        rank 0        rank 1        rank 2\nrank 0  –             the same GPU  NV18\nrank 1  the same GPU  –             NV18\nrank 2  NV18          NV18          –\n" +
				"the same GPU: in turns by time slices\nNV18: 478 GB/s each way",
		},
		"GPUs that cannot map each other's memory": {
			[]session.Answer{inPart(gpu(0, a, system(b)), 0), inPart(gpu(1, b, system(a)), 1)}, [][]string{{"", apart}, {apart, ""}},
			"all ranks: " + apart,
		},
		"two hosts": {[]session.Answer{gpu(0, a, nvlink(b)), gpu(1, b, nvlink(a)), gpu(2, c, nvlink("GPU-d"))}, nil, ""},
		"two hosts of which it is known": {
			[]session.Answer{onHost(0, 0), onHost(1, 0), onHost(2, 1)},
			[][]string{{"", shared, other}, {shared, "", other}, {other, other, ""}},
			"        rank 0                      rank 1                      rank 2\nrank 0  –                           shared memory of this host  other host\n" +
				"rank 1  shared memory of this host  –                           other host\nrank 2  other host                  other host                  –\n" +
				"other host: nothing carries traffic to it",
		},
		"one rank":  {[]session.Answer{gpu(0, a)}, nil, ""},
		"no answer": {[]session.Answer{gpu(0, a, nvlink(b)), {Rank: 1, Err: &session.Error{Msg: "dead"}}}, nil, ""},
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
		svg := l.picture().SVG()
		if discs, lines := strings.Count(svg, "fill:#EEEEEE"), strings.Count(svg, "stroke-width:1.5"); discs != n || lines != n*(n-1)/2 {
			t.Errorf("%s: %d discs and %d lines for %d ranks: %s", name, discs, lines, n, svg)
		}
		for _, kind := range l.kinds() {
			if !strings.Contains(svg, ">"+kind+"</text>") {
				t.Errorf("%s: the picture lacks %s: %s", name, kind, svg)
			}
		}
	}
}
