package cuda

import (
	_ "embed"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

//go:embed testdata/fakecupti.c
var fakeCUPTISource []byte

// fakeCUPTI builds the CUPTI of testdata and returns its path.
func fakeCUPTI(t *testing.T) string {
	t.Helper()
	return fakeLibrary(t, fakeCUPTISource, "libcupti.so.13")
}

// A recording has the activities of each call, on the host's clock though CUPTI's is another.
func TestRecording(t *testing.T) {
	if !inChild(t) {
		again(t, driverVariable+"="+fakeDriver(t), "SYMMREPL_CUPTI="+fakeCUPTI(t), "FAKE_CUPTI_AHEAD=987654321000")
		return
	}
	d := opened(t, 0)
	for range 2 { // it can be repeated
		r, err := d.StartRecording()
		must(t, err)
		if r.Source() != "CUPTI 13.5" || r.Waits() || r.Within() < 0 || r.Within() > int64(time.Second) {
			t.Errorf("source %q, waits %v, ± %d ns", r.Source(), r.Waits(), r.Within())
		}
		before := timeline.Now()
		issued := false
		must(t, r.Issue(nil, 7, func() error { issued = true; return nil }))
		must(t, r.Issue(nil, 0, func() error { return nil }))
		after := timeline.Now()
		list, more, err := r.End()
		must(t, err)
		if !issued || more != 0 || len(list) != 1 {
			t.Fatalf("issued %v, %d more: %+v", issued, more, list)
		}
		a := list[0]
		if a.Begin < before-r.Within() || a.End > after+r.Within() || a.End < a.Begin {
			t.Errorf("from %d until %d, not between %d and %d ± %d", a.Begin, a.End, before, after, r.Within())
		}
		a.Begin, a.End = 0, 0
		if want := (device.Activity{Kind: device.ActivityKernel, Name: "ring", Call: 7, Grid: [3]int{8, 2, 1}, Block: [3]int{32, 1, 1}}); a != want {
			t.Errorf("%+v, want %+v", a, want)
		}
	}
}

// A CUPTI that does not report what it must is not used.
func TestRecordingRefused(t *testing.T) {
	var driver, library string
	if !inChild(t) {
		driver, library = fakeDriver(t), fakeCUPTI(t)
	}
	for mode, want := range map[string]string{
		"silent": "CUPTI 13.5 reported 0 of 16 fills", "wrong": "contradict the host's clock", "old": "records of CUPTI's interface 12 are not known",
		"refuses": "cuptiActivityEnable returned 35", "none": "no CUPTI: install the CUDA toolkit",
	} {
		if !inChild(t) {
			t.Run(mode, func(t *testing.T) {
				at := library
				if mode == "none" {
					at = t.TempDir()
				}
				out, err := command("TestRecordingRefused", driverVariable+"="+driver, "SYMMREPL_CUPTI="+at, "FAKE_CUPTI="+mode).CombinedOutput()
				if err != nil || !strings.Contains(string(out), "--- PASS: TestRecordingRefused") {
					t.Errorf("%v\n%s", err, out)
				}
			})
			continue
		}
		if mode != os.Getenv("FAKE_CUPTI") {
			continue
		}
		if r, err := opened(t, 0).StartRecording(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v, want %q", mode, r, err, want)
		}
	}
}

func TestPlainName(t *testing.T) {
	for name, want := range map[string]string{"_Z4ringPfi": "ring", "ring": "ring", "_ZN4symm3addEv": "_ZN4symm3addEv",
		"_Z9ring": "_Z9ring", "_Z": "_Z", "": "", "_Z4ring": "ring"} {
		if got := plainName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
