package frame

import (
	"bytes"
	"errors"
	"fmt"
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

// Decode finds frames in whatever pieces their bytes come.
func TestDecode(t *testing.T) {
	var stream []byte
	for n, payload := range []string{"", "payload", ""} {
		stream, _ = Append(stream, header{"h", n}, []byte(payload))
	}
	for piece := 1; piece <= len(stream); piece++ {
		var buf []byte
		var got strings.Builder
		for at := 0; at < len(stream); at += piece {
			buf = append(buf, stream[at:min(at+piece, len(stream))]...)
			for {
				var h header
				payload, size, err := Decode(buf, 7, &h)
				if err != nil {
					t.Fatal(err)
				}
				if size == 0 {
					break
				}
				fmt.Fprintf(&got, "%d %q ", h.N, payload)
				buf = buf[size:]
			}
		}
		if want := `0 "" 1 "payload" 2 "" `; got.String() != want || len(buf) > 0 {
			t.Errorf("in pieces of %d bytes: %s, want %s; %d bytes remain", piece, got.String(), want, len(buf))
		}
	}
	long, _ := Append(nil, header{"h", 1}, []byte("payload"))
	var size *SizeError
	if _, _, err := Decode(long[:len(Beat)], 6, &header{}); !errors.As(err, &size) || size.Payload != 7 {
		t.Errorf("a payload over the limit: %v", err)
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
			for bytes.HasPrefix(in, []byte(Beat)) {
				in = in[len(Beat):]
			}
			var same header
			q, size, wrong := Decode(in, 64, &same)
			if (wrong == nil && size > 0) != (err == nil) {
				t.Fatalf("Read: %v, Decode: %d bytes, %v", err, size, wrong)
			}
			if err != nil {
				return
			}
			in = in[size:]
			if len(p) > 64 || h != same || !bytes.Equal(p, q) {
				t.Fatalf("Read: %v %q, Decode: %v %q", h, p, same, q)
			}
		}
	})
}
