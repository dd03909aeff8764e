package networks

import (
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

func TestTuned(t *testing.T) {
	before := net.NullSettings{Delay: time.Millisecond, Seed: 3}
	for settings, want := range map[string]net.NullSettings{
		"":                               before,
		"off":                            {},
		"delay 200us reorder on seed 7":  {Delay: 200 * time.Microsecond, Reorder: true, Seed: 7},
		"delay=0s drop=0.25 reorder=off": {Drop: 0.25, Seed: 3},
		"bandwidth 1e9":                  {Delay: time.Millisecond, Seed: 3, Bandwidth: 1e9},
	} {
		got, err := Tuned(before, strings.Fields(settings))
		if err != nil || got != want {
			t.Errorf("%q gives %+v (%v), want %+v", settings, got, err, want)
		}
	}
	for settings, want := range map[string]string{
		"delay":            `setting delay of the null network cannot be ""`,
		"delay -1s":        `setting delay of the null network cannot be "-1s": it is negative`,
		"drop 2":           `setting drop of the null network cannot be "2": it must be in [0, 1]`,
		"drop NaN":         `setting drop of the null network cannot be "NaN": it must be in [0, 1]`,
		"reorder":          `setting reorder of the null network cannot be "": on or off is needed`,
		"seed -1":          `setting seed of the null network cannot be "-1"`,
		"latency 3":        `the null network has no setting "latency": there are delay 200us`,
		"delay 1s off":     `the null network has no setting "off"`,
		"seed 1 reorder 1": `setting reorder of the null network cannot be "1"`,
	} {
		if _, err := Tuned(before, strings.Fields(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", settings, err, want)
		}
	}
}

func TestNetworkChoice(t *testing.T) {
	for choice, want := range map[string][2]string{ // on the cpu device, on GPUs
		"":                      {},
		"ucx":                   {},
		"none":                  {},
		"null delay=1ms":        {},
		"null memory=direct":    {`has no setting "memory"`, `has no setting "memory"`},
		"ucx memory=direct":     {"memory=direct is for GPUs"},
		"ucx delay=1ms":         {"the network must be ucx, ucx memory=direct, null or none", "the network must be"},
		"ucx memory=direct now": {"the network must be", "the network must be"},
		"tcp":                   {"the network must be", "the network must be"},
	} {
		for i, kind := range []string{"cpu", "cuda"} {
			msg, _ := Choice(choice).Refused(kind == "cpu")
			if want[i] == "" && msg != "" || !strings.Contains(msg, want[i]) {
				t.Errorf("%q on %s: %q, want %q", choice, kind, msg, want[i])
			}
		}
	}
}

func FuzzTuned(f *testing.F) {
	f.Add("delay 200us reorder on seed 7")
	f.Add("bandwidth=1e9 drop=0.5 off")
	f.Fuzz(func(t *testing.T, settings string) {
		s, err := Tuned(net.NullSettings{}, strings.Fields(settings))
		if err != nil {
			return
		}
		if s.Delay < 0 || !(s.Drop >= 0 && s.Drop <= 1) || !(s.Bandwidth >= 0) {
			t.Errorf("%q gives %+v", settings, s)
		}
		again, err := Tuned(net.NullSettings{}, strings.Fields(strings.ReplaceAll(describe(s), ",", "")))
		if err != nil || again != s {
			t.Errorf("%+v is written %q, which reads %+v (%v)", s, describe(s), again, err)
		}
	})
}
