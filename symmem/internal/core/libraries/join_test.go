package libraries

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

type library struct{ id error }

func (library) Name() string             { return "NCCL 2.28.9" }
func (l library) NewID() ([]byte, error) { return []byte("id"), l.id }

// A member says which library it has, or why it has none. Only the first makes an ID.
func TestOpen(t *testing.T) {
	failed := errors.New("no id")
	for name, c := range map[string]struct {
		open  error
		id    error
		first bool
		want  Member
		err   error
	}{
		"first":           {nil, nil, true, Member{Library: "NCCL 2.28.9", ID: []byte("id")}, nil},
		"another":         {nil, failed, false, Member{Library: "NCCL 2.28.9"}, nil},
		"without an ID":   {nil, failed, true, Member{Library: "NCCL 2.28.9", ID: []byte("id")}, failed},
		"not there":       {&device.UnavailableError{Why: "it was not found", Hint: "install it"}, nil, true, Member{Why: "it was not found", Hint: "install it"}, nil},
		"another failure": {failed, nil, true, Member{}, failed},
	} {
		_, m, err := Open(func() (library, error) { return library{c.id}, c.open }, c.first)
		if fmt.Sprint(m) != fmt.Sprint(c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// Members join only if all of them have the same library, and none has lost it.
func TestCompare(t *testing.T) {
	k := Kind{Name: "NCCL", Where: "on all hosts", Without: "start again"}
	has := Member{Library: "NCCL 2.28.9"}
	for name, c := range map[string]struct {
		all  []Member
		want string
	}{
		"equal":         {[]Member{has, has}, ""},
		"one":           {[]Member{has}, ""},
		"joined":        {[]Member{{Joined: true}, {Joined: true}}, ""},
		"none":          {[]Member{has, {Why: "it was not found", Hint: "install it"}}, "system 5: rank 5 has no NCCL: it was not found (install it)"},
		"another":       {[]Member{has, {Library: "NCCL 2.27"}}, "system 5: rank 3 has NCCL 2.28.9, and rank 5 has NCCL 2.27 (set SYMMREPL_NCCL to the same version on all hosts)"},
		"lost":          {[]Member{{Joined: true}, {Joined: true, Lost: "rank 1 is gone"}}, "peer 5: NCCL cannot go on: rank 1 is gone (start again)"},
		"not of all":    {[]Member{{Joined: true}, has}, "peer 5: NCCL cannot go on: not all ranks have joined it (start again)"},
		"a new process": {[]Member{has, {Joined: true}}, "peer 5: NCCL cannot go on: not all ranks have joined it (start again)"},
	} {
		got := ""
		if r := k.Compare(c.all, []int{3, 5}); r != nil {
			got = fmt.Sprintf("%s %d: %v", r.Kind, r.Peer, r)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Only the end of the time is explained.
func TestLate(t *testing.T) {
	k, failed := Kind{Name: "NCCL"}, errors.New("it broke")
	if err := k.Late(failed, "NCCL 2", "world"); err != failed {
		t.Error(err)
	}
	if err := k.Late(nil, "NCCL 2", "world"); err != nil {
		t.Error(err)
	}
	const want = "NCCL 2 did not connect the ranks of world within 2m0s; NCCL_DEBUG=INFO tells more"
	if err := k.Late(fmt.Errorf("join: %w", context.DeadlineExceeded), "NCCL 2", "world"); err == nil || err.Error() != want {
		t.Error(err)
	}
}
