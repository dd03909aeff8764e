package frame

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

type header struct {
	Name string
	N    int
}

func TestRoundTrip(t *testing.T) {
	big := bytes.Repeat([]byte("x"), 1<<20)
	sent := []struct {
		h header
		p []byte
	}{{header{"a", 1}, nil}, {header{"", -7}, []byte("payload")}, {header{strings.Repeat("long ", 100000), 2}, big}, {header{"last", 3}, nil}}
	var stream bytes.Buffer
	w := NewWriter(&stream)
	for _, s := range sent {
		stream.WriteString(Beat + Beat)
		if err := w.Write(s.h, s.p); err != nil {
			t.Fatal(err)
		}
	}
	stream.WriteString(Beat)
	r := NewReader(&stream, 2<<20)
	for i, s := range sent {
		var h header
		p, err := r.Read(&h)
		if err != nil || h != s.h || !bytes.Equal(p, s.p) {
			t.Fatalf("frame %d: read header %.40q %d, %d bytes, %v", i, h.Name, h.N, len(p), err)
		}
	}
	if _, err := r.Read(&header{}); err != io.EOF {
		t.Fatalf("after the last frame: %v", err)
	}
}

func TestLimits(t *testing.T) {
	one, _ := Append(nil, header{"a", 1}, []byte("12345"))
	for _, c := range []struct {
		name  string
		in    []byte
		limit int
		size  bool
		is    error
	}{
		{"payload over the limit", one, 4, true, nil},
		{"header longer than the frame", []byte{0, 0, 0, 8, 0, 0, 0, 9}, 100, true, nil},
		{"frame shorter than its header length", []byte{0, 0, 0, 3, 0, 0, 0, 0}, 100, true, nil},
		{"header over the limit", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0}, 1 << 30, true, nil},
		{"cut in the lengths", one[:6], 100, false, io.ErrUnexpectedEOF},
		{"cut in the header", one[:10], 100, false, io.ErrUnexpectedEOF},
		{"cut in the payload", one[:len(one)-1], 100, false, io.ErrUnexpectedEOF},
	} {
		_, err := NewReader(bytes.NewReader(c.in), c.limit).Read(&header{})
		var size *SizeError
		if errors.As(err, &size) != c.size || (c.is != nil && !errors.Is(err, c.is)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	one, _ := Append(nil, header{"a", 1}, []byte("12345"))
	f.Add(one)
	f.Add(one[:9])
	f.Add([]byte{0, 0, 0, 6, 0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in), 64)
		for {
			var h header
			p, err := r.Read(&h)
			if err != nil {
				return
			}
			if len(p) > 64 {
				t.Fatalf("%d bytes of payload", len(p))
			}
		}
	})
}
