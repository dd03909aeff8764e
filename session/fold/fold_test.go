package fold

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
	"github.com/symmrepl/symmrepl/session/inband"
)

func TestFold(t *testing.T) {
	type step struct {
		rank int    // the rank that writes, or
		text string // the text; "DONE", or "WAIT" for time to pass
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"equal lines are one", []step{{0, "a\n"}, {1, "a\n"}, {2, "a\n"}}, "[0-2] a\n"},
		{"nothing is shown before all have come", []step{{0, "a\n"}, {1, "a\n"}}, ""},
		{"in whatever pieces", []step{{0, "a"}, {1, "a\nb"}, {2, "a\n"}, {0, "\nb\n"}, {1, "\n"}, {2, "b\n"}}, "[0-2] a\n[0-2] b\n"},
		{"different lines by rank", []step{{2, "c\n"}, {1, "b\n"}, {0, "a\n"}}, "[0] a\n[1] b\n[2] c\n"},
		{"groups in order of their first rank", []step{{2, "x\n"}, {1, "y\n"}, {0, "x\n"}}, "[0,2] x\n[1] y\n"},
		{"by position, not by content", []step{{0, "a\nb\n"}, {1, "b\na\n"}, {2, "a\nb\n"}}, "[0,2] a\n[1] b\n[0,2] b\n[1] a\n"},
		{"who is done is not waited for", []step{{0, "a\n"}, {1, "a\n"}, {2, "DONE"}}, "[0,1] a\n"},
		{"nor who was before anyone printed", []step{{2, "DONE"}, {0, "a\n"}, {1, "a\n"}, {0, "DONE"}, {1, "b"}, {1, "DONE"}},
			"[0,1] a\n[1] b|"},
		{"a last line without newline", []step{{0, "a"}, {1, "a"}, {0, "DONE"}, {1, "DONE"}, {2, "DONE"}}, "[0,1] a|"},
		{"a line and the same without newline differ", []step{{0, "a"}, {1, "a\n"}, {0, "DONE"}, {2, "DONE"}, {1, "DONE"}}, "[0] a|[1] a\n"},
		{"who lags is not waited for long", []step{{0, "a\n"}, {1, "a\n"}, {0, "WAIT"}}, "[0,1] a\n"},
		{"who lagged comes alone", []step{{0, "a\nb\n"}, {1, "a\n"}, {0, "WAIT"}, {2, "a\nb\n"}, {1, "b\n"}},
			"[0,1] a\n[0] b\n[2] a\n[1,2] b\n"},
		{"after which all go on together", []step{{0, "a\n"}, {0, "WAIT"}, {1, "a\nb\n"}, {2, "a\nb\n"}, {0, "b\n"}},
			"[0] a\n[1,2] a\n[0-2] b\n"},
		{"printing after the end", []step{{0, "DONE"}, {1, "DONE"}, {2, "DONE"}, {1, "late\n"}}, "[1] late\n"},
		{"an unknown rank", []step{{7, "a\n"}}, ""},
	} {
		var got strings.Builder
		f := New([]int{0, 1, 2}, Age, func(o session.Output) {
			if o.Stream != session.Stdout || o.Text == "" {
				t.Errorf("%s: %+v", c.name, o)
			}
			for line := range strings.Lines(o.Text) {
				got.WriteString(session.Prefix(o.Ranks, 3) + line)
				if !strings.HasSuffix(line, "\n") {
					got.WriteString("|")
				}
			}
		})
		now := time.Unix(0, 0)
		for _, s := range c.steps {
			switch s.text {
			case "DONE":
				f.EndRanks([]int{s.rank}, now)
			case "WAIT":
				f.Tick(now.Add(Age - 1))
				now = now.Add(Age)
				f.Tick(now)
			default:
				f.write([]int{s.rank}, session.Stdout, []byte(s.text), now)
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got.String(), c.want)
		}
	}
}

// A block of lines that differs between ranks is shown whole, and text of the same ranks is one output.
func TestFoldBlocks(t *testing.T) {
	block := func(text string) string {
		b, err := inband.Encode(session.Display{Block: true, Data: map[string]any{"text/plain": text}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var got []string
	f := New([]int{0, 1, 2}, Age, func(o session.Output) {
		if o.Display != nil {
			t.Errorf("%+v", o)
		}
		got = append(got, session.Prefix(o.Ranks, 3)+o.Text)
	})
	now := time.Unix(0, 0)
	for rank, text := range []string{"1 2\n3 4\n", "1 2\n3 5\n", "1 2\n3 4\n"} {
		f.write([]int{rank}, session.Stdout, []byte("x:\n"+block("same\nsame\n")+"y"+block(text)+"end\n"), now)
	}
	f.End(now)
	want := []string{"[0-2] x:\nsame\nsame\n", "[0,2] y1 2\n3 4\n", "[1] y1 2\n3 5\n", "[0-2] end\n"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Lines of the two streams are shown in the order in which they came, also those that had to wait
// for ranks that did not print.
func TestFoldOrdersStreams(t *testing.T) {
	type step struct {
		ranks  []int
		stream session.Stream // 0: the ranks are done
		text   string
	}
	for name, c := range map[string]struct {
		steps []step
		want  string
	}{
		"of one rank": {
			[]step{{[]int{0}, session.Stdout, "a\n"}, {[]int{0}, session.Stderr, "b\n"}, {[]int{0}, session.Stdout, "c\nd\n"}, {[]int{0}, session.Stderr, "e\n"}, {[]int{0, 1}, 0, ""}},
			"1[0] a\n2[0] b\n1[0] c\n1[0] d\n2[0] e\n",
		},
		"of all ranks": {
			[]step{{[]int{0}, session.Stderr, "a\n"}, {[]int{0}, session.Stdout, "b\n"}, {[]int{1}, session.Stderr, "a\n"}, {[]int{1}, session.Stdout, "b\n"}},
			"2[0,1] a\n1[0,1] b\n",
		},
		"a line of one before a line of all": {
			[]step{{[]int{0}, session.Stdout, "a\n"}, {[]int{0, 1}, session.Stderr, "b\n"}, {[]int{1}, 0, ""}},
			"1[0] a\n2[0,1] b\n",
		},
		"parts of lines": {
			[]step{{[]int{0}, session.Stdout, "a"}, {[]int{0}, session.Stderr, "b\n"}, {[]int{0}, session.Stdout, "c\n"}, {[]int{0, 1}, 0, ""}},
			"1[0] ac\n2[0] b\n",
		},
	} {
		var got strings.Builder
		f := New([]int{0, 1}, foldMost, func(o session.Output) {
			for line := range strings.Lines(o.Text) {
				fmt.Fprintf(&got, "%d%s%s", o.Stream, session.Prefix(o.Ranks, 2), line)
			}
		})
		now := time.Unix(0, 0)
		for _, s := range c.steps {
			now = now.Add(time.Millisecond)
			if s.stream == 0 {
				f.EndRanks(s.ranks, now)
			} else {
				f.write(s.ranks, s.stream, []byte(s.text), now)
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got.String(), c.want)
		}
	}
}

// Between cells, a line that only one rank has printed, because its cell was over later, does not
// separate the next lines.
func TestFoldBetweenCells(t *testing.T) {
	const want = "[1] a\n[0-2] b\n[0-2] c\n[0] d\n[1,2] d\n[0-2] e\n"
	var got strings.Builder
	f := New([]int{0, 1, 2}, Age, func(o session.Output) {
		for line := range strings.Lines(o.Text) {
			got.WriteString(session.Prefix(o.Ranks, 3) + line)
		}
	})
	f.Between = true
	now := time.Unix(0, 0)
	print := func(text string, ranks ...int) {
		for _, rank := range ranks {
			f.write([]int{rank}, session.Stdout, []byte(text), now)
		}
	}
	wait := func() {
		now = now.Add(Age)
		f.Tick(now)
	}
	print("a\n", 1)
	wait()
	print("b\n", 0, 1, 2)
	print("c\n", 2, 1, 0)
	print("d\n", 0)
	wait()
	print("d\n", 1, 2)
	wait()
	print("e\n", 0, 1, 2)
	f.End(now)
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// Streams are folded apart, long lines are cut, and equal lines of equal ranks come in one piece.
func TestFoldPieces(t *testing.T) {
	var got []string
	f := New([]int{0, 1}, Age, func(o session.Output) {
		got = append(got, fmt.Sprintf("%v %d %d %.1s", o.Ranks, o.Stream, len(o.Text), o.Text))
	})
	now := time.Unix(0, 0)
	f.write([]int{0}, session.Stdout, []byte("one\ntwo\nthree\n"), now)
	f.write([]int{0}, session.Stderr, []byte("error\n"), now)
	f.write([]int{1}, session.Stdout, []byte("one\ntwo\nthree\n"), now)
	f.write([]int{1}, session.Stderr, []byte("error\n"), now)
	long := []byte(strings.Repeat("x", MaxLine+10))
	f.write([]int{0}, session.Stdout, long, now)
	f.write([]int{1}, session.Stdout, long, now)
	f.End(now)
	want := []string{"[0 1] 1 14 o", "[0 1] 2 6 e", "[0 1] 1 65536 x", "[0 1] 1 10 x"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A line that is cut because of its length is cut between characters, in whatever pieces it comes.
func TestFoldCutsBetweenCharacters(t *testing.T) {
	for lead := range 4 {
		for _, chunk := range []int{1 << 20, 32<<10 + 1, 777} {
			text := strings.Repeat("x", lead) + strings.Repeat("漢é😀", 3*MaxLine/9)
			var got strings.Builder
			f := New([]int{0, 1}, Age, func(o session.Output) {
				if !utf8.ValidString(o.Text) {
					t.Errorf("%d bytes from rank %v end with %q", len(o.Text), o.Ranks, o.Text[len(o.Text)-4:])
				}
				got.WriteString(o.Text)
			})
			for part := range slices.Chunk([]byte(text), chunk) {
				f.write([]int{0}, session.Stdout, part, time.Unix(0, 0))
				f.write([]int{1}, session.Stdout, part, time.Unix(0, 0))
			}
			f.End(time.Unix(0, 0))
			if got.String() != text {
				t.Errorf("%d bytes became %d", len(text), got.Len())
			}
		}
	}
}

// A line waits longer for a rank that is held up, that is, for a rank that does not answer.
func TestFoldWaitsForTheHeldUp(t *testing.T) {
	for name, c := range map[string]struct {
		heard time.Duration // when rank 2 was last known to go on, after the line; 0: it was not
		until time.Duration // time at which the line is shown
	}{
		"goes on":                 {Age, Age},
		"went on, but not lately": {Age - 1, foldMost},
		"held up":                 {0, foldMost},
	} {
		var got []string
		f := New([]int{0, 1, 2}, foldMost, func(o session.Output) { got = append(got, session.FormatRanks(o.Ranks)+" "+o.Text) })
		start := time.Unix(0, 0)
		f.write([]int{0}, session.Stdout, []byte("a\n"), start)
		f.write([]int{1}, session.Stdout, []byte("a\n"), start)
		if behind := f.Tick(start.Add(Age - 1)); behind != nil {
			t.Errorf("%s: ranks %v are behind too early", name, behind)
		}
		f.NoteAlive([]int{0}, start.Add(Age))
		if c.heard != 0 {
			f.NoteAlive([]int{2}, start.Add(c.heard))
		}
		if behind := f.Tick(start.Add(Age)); (len(got) == 0) != reflect.DeepEqual(behind, []int{2}) {
			t.Errorf("%s: ranks %v are behind, shown %q", name, behind, got)
		}
		if c.until > Age {
			if f.Tick(start.Add(c.until - 1)); got != nil {
				t.Errorf("%s: shown too early: %q", name, got)
			}
			f.Tick(start.Add(c.until))
		}
		if want := []string{"0,1 a\n"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: shown %q, want %q", name, got, want)
		}
	}
}

// A rank that is far ahead is held back, and then not kept in memory.
func TestFoldIsBounded(t *testing.T) {
	shown := 0
	f := New([]int{0, 1}, Age, func(o session.Output) { shown += len(o.Text) })
	block := []byte(strings.Repeat(strings.Repeat("y", 99)+"\n", 1000))
	start := time.Now()
	for written := 0; written < 4*MaxAhead; {
		f.write([]int{0}, session.Stdout, block, time.Now())
		written += len(block)
		if kept := written - shown; kept > MaxAhead+len(block) {
			t.Fatalf("%d bytes kept", kept)
		}
	}
	if took := time.Since(start); took < Age {
		t.Errorf("it was held back for %v only", took)
	}
	q := f.streams[session.Stdout].of[0]
	q.append(make([]byte, 2*MaxAhead), time.Now())
	held := q.wantRoom()
	f.EndRanks([]int{1}, time.Now())
	select {
	case <-held:
	default:
		t.Error("still held back when nobody is waited for")
	}
}

func FuzzFold(f *testing.F) {
	f.Add([]byte("0a\n1a\n"), uint8(3))
	f.Add([]byte("0abc1a\n0\n\n1x"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		var wrote, shown [2]strings.Builder
		fold := New([]int{0, 1}, Age, func(o session.Output) {
			for _, r := range o.Ranks {
				shown[r].WriteString(o.Text)
			}
		})
		now := time.Unix(0, 0)
		for len(in) > 0 {
			n := min(int(size%7)+1, len(in))
			r := int(in[0] & 1)
			fold.write([]int{r}, session.Stdout, in[:n], now)
			wrote[r].Write(in[:n])
			in = in[n:]
			now = now.Add(30 * time.Millisecond)
			fold.Tick(now)
		}
		fold.End(now)
		for r := range 2 {
			if wrote[r].String() != shown[r].String() {
				t.Fatalf("rank %d wrote %q, shown %q", r, wrote[r].String(), shown[r].String())
			}
		}
	})
}
