package pace

import (
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	for line, want := range map[string]float64{
		"0.20 3.00 2.00 1/269 26351\n":    0.2,
		"13.50 3.00 2.00 4/269 26351\n":   13.5,
		"0.50 3.00 2.00 14/269 26351\n":   13,
		"":                                0,
		"no load\n":                       0,
		"39.44 18.73 9.06 20/313 15210\n": 39.44,
	} {
		if got := load(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	if got := Unhurried(time.Second); got < time.Second {
		t.Errorf("a second takes %v", got)
	}
}

func TestWithTimeout(t *testing.T) {
	began := time.Now()
	ctx, cancel := WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if took := time.Since(began); took < 10*time.Millisecond {
		t.Errorf("it ended after %v", took)
	}
	ctx, cancel = WithTimeout(t.Context(), time.Hour)
	cancel()
	<-ctx.Done()
}
