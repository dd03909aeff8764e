package jsonlines

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReader(t *testing.T) {
	const max = 10000
	long := strings.Repeat("x", max+1)
	r := NewReader(strings.NewReader("a\r\n\n  \n"+long+"\n b \n"+long[:max-1]+"\nlast"), max)
	var got []string
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, ErrTooLong):
			got = append(got, "too long")
			continue
		case errors.Is(err, io.EOF):
			want := []string{"a", "too long", "b", long[:max-1], "last"}
			if strings.Join(got, ",") != strings.Join(want, ",") {
				t.Errorf("%.200q", got)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
}
