package render

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

// detailed gives an error the detail that several errors share.
func detailed(e *session.Error) *session.Error {
	e.Detail = "the table"
	return e
}

// Errors that differ only in ranks, times, addresses, blocks and threads are printed as one. It
// keeps which rank waits for which.
func TestErrorsAlike(t *testing.T) {
	wait := func(rank, peer, ms, line int) *session.Error {
		return &session.Error{
			Kind: session.KindTimeout, Ranks: []int{rank}, Peer: peer, File: "In[5]", Line: line, Column: 1,
			Source: "h.WaitSignal(left, 0)",
			Msg:    fmt.Sprintf("wait_signal: rank %d waited %dms for a signal of rank %d on channel 0", rank, ms, peer),
			Hint:   fmt.Sprintf("rank %d must put it", peer),
		}
	}
	fault := func(rank, address int) *session.Error {
		return &session.Error{Kind: session.KindFault, Ranks: []int{rank}, File: "In[7]", Line: 2,
			Msg: fmt.Sprintf("kernel bad: writes address %#x, where no memory is", address)}
	}
	spin := func(rank int, block, thread string) *session.Error {
		return &session.Error{Kind: session.KindInterrupted, Ranks: []int{rank}, File: "In[7]", Line: 2,
			Msg: fmt.Sprintf("kernel spin, block [%s], thread [%s]: interrupted, launched at In[8]:1", block, thread)}
	}
	source := func(ranks string) string {
		return fmt.Sprintf("[%s]     h.WaitSignal(left, 0)\n[%[1]s]     ^\n", ranks)
	}
	for name, c := range map[string]struct {
		errs []*session.Error
		want string
	}{
		"a circle": {
			[]*session.Error{wait(0, 3, 400, 2), wait(1, 0, 1402, 2), wait(2, 1, 999, 2), wait(3, 2, 400, 2)},
			"[0-3] In[5]:2:1: wait_signal: rank 0-3 waited 1402ms for a signal of rank 3,0,1,2 on channel 0\n" + source("0-3") +
				"[0-3]     hint: rank 3,0,1,2 must put it\n",
		},
		"all for one": {
			[]*session.Error{wait(1, 0, 400, 2), wait(3, 0, 400, 2)},
			"[1,3] In[5]:2:1: wait_signal: rank 1,3 waited 400ms for a signal of rank 0 on channel 0\n" + source("1,3") +
				"[1,3]     hint: rank 0 must put it\n",
		},
		"at other places": {
			[]*session.Error{wait(0, 1, 400, 2), wait(1, 0, 400, 3)},
			"[0] In[5]:2:1: wait_signal: rank 0 waited 400ms for a signal of rank 1 on channel 0\n" + source("0") +
				"[0]     hint: rank 1 must put it\n" +
				"[1] In[5]:3:1: wait_signal: rank 1 waited 400ms for a signal of rank 0 on channel 0\n" + source("1") +
				"[1]     hint: rank 0 must put it\n",
		},
		"one detail of several": {
			[]*session.Error{detailed(wait(0, 1, 400, 2)), detailed(wait(1, 2, 400, 3)), detailed(wait(2, 0, 400, 3))},
			"[0] In[5]:2:1: wait_signal: rank 0 waited 400ms for a signal of rank 1 on channel 0\n" + source("0") +
				"[0]     hint: rank 1 must put it\n" +
				"[1,2] In[5]:3:1: wait_signal: rank 1,2 waited 400ms for a signal of rank 2,0 on channel 0\n" + source("1,2") +
				"[1,2]     the table\n[1,2]     hint: rank 2,0 must put it\n",
		},
		"other numbers": {
			[]*session.Error{{Ranks: []int{0}, Msg: "index 4 of 3"}, {Ranks: []int{1}, Msg: "index 5 of 3"}},
			"[0] index 4 of 3\n[1] index 5 of 3\n",
		},
		"several ranks": {
			[]*session.Error{{Ranks: []int{0, 2}, Msg: "waits for ranks 1,3"}, {Ranks: []int{1}, Msg: "waits for ranks 0,2"}},
			"[0-2] waits for ranks (1,3),(0,2),(1,3)\n",
		},
		"addresses": {
			[]*session.Error{fault(0, 0x7f00), fault(1, 0x7f10), fault(2, 0xab)},
			"[0-2] In[7]:2: kernel bad: writes address 0x7f00,0x7f10,0xab, where no memory is\n",
		},
		"the same address": {
			[]*session.Error{fault(0, 0x10), fault(3, 0x10)},
			"[0,3] In[7]:2: kernel bad: writes address 0x10, where no memory is\n",
		},
		"many addresses": {
			[]*session.Error{fault(0, 1), fault(1, 2), fault(2, 3), fault(3, 4), fault(4, 5)},
			"[0-4] In[7]:2: kernel bad: writes address 0x1,…,0x5, where no memory is\n",
		},
		"threads": {
			[]*session.Error{spin(0, "0 0 0", "15 0 0"), spin(1, "0 0 0", "59 0 0"), spin(2, "0 0 0", "15 0 0")},
			"[0-2] In[7]:2: kernel spin, block [0 0 0], thread [15 0 0],[59 0 0],[15 0 0]: interrupted, launched at In[8]:1\n",
		},
		"blocks of many ranks": {
			[]*session.Error{spin(0, "0 0 0", "1 0 0"), spin(1, "7 0 0", "1 0 0"), spin(2, "2 0 0", "1 0 0"),
				spin(3, "3 0 0", "1 0 0"), spin(4, "9 1 0", "1 0 0")},
			"[0-4] In[7]:2: kernel spin, block [0 0 0],…,[9 1 0], thread [1 0 0]: interrupted, launched at In[8]:1\n",
		},
		"names with 0x": {
			[]*session.Error{{Ranks: []int{0}, Msg: "x0x1 of 3"}, {Ranks: []int{1}, Msg: "x0x2 of 3"}},
			"[0] x0x1 of 3\n[1] x0x2 of 3\n",
		},
	} {
		var b bytes.Buffer
		New(&b, &b, 4, false).Reply(session.Reply{Errors: c.errs})
		if b.String() != c.want {
			t.Errorf("%s:\n%swant\n%s", name, b.String(), c.want)
		}
	}
}

// If the printer is set to Bold, because the terminal's colours may be hard to read, an error's
// headline and caret are bold.
func TestBold(t *testing.T) {
	var b bytes.Buffer
	p := New(&b, &b, 2, true)
	p.Bold = true
	p.Error(&session.Error{Kind: session.KindType, Ranks: []int{1}, Msg: "bad", Source: "x := 1", Column: 1, Hint: "do y"})
	if want := "[1] \x1b[1mbad\x1b[0m\n[1]     x := 1\n[1] \x1b[1m    ^\x1b[0m\n[1]     hint: do y\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
