package cli

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/session"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args string
		want options
	}{
		{"", options{}},
		{"-n 4", options{ranks: 4, given: []string{"n"}}},
		{"run a.go --sanitize --schedules 20 --seed 7 --json",
			options{args: []string{"run", "a.go"}, given: []string{"json", "sanitize", "schedules", "seed"}, sanitize: true, schedules: 20,
				seed: 7, json: true}},
		{"--ranks=4 --device cpu", options{ranks: 4, device: "cpu", given: []string{"device", "ranks"}}},
		{"run a.go -n 2", options{ranks: 2, args: []string{"run", "a.go"}, given: []string{"n"}}},
		{"-n 2 run --device cuda a.go --backend CUDA", options{ranks: 2, device: "cuda", backend: "CUDA", args: []string{"run", "a.go"},
			given: []string{"backend", "device", "n"}}},
		{"run -- -n", options{args: []string{"run", "-n"}}},
		{"-e x", options{code: "x", hasCode: true, given: []string{"e"}}},
		{"--eval=", options{hasCode: true, given: []string{"eval"}}},
		{"--rdzv host:1 -h", options{rdzv: "host:1", help: true, given: []string{"h", "rdzv"}}},
	} {
		test.want.schedules = max(test.want.schedules, 1)
		if test.want.device == "" {
			test.want.device = "auto"
		}
		test.want.dtype = "bf16"
		got, err := parse(strings.Fields(test.args))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: %+v, %v; want %+v", test.args, got, err, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("run a.go -n 2 -- -e")
	f.Add("--device\x00cpu")
	f.Fuzz(func(t *testing.T, line string) {
		o, err := parse(strings.Split(line, "\x00"))
		if err == nil && (o.ranks < 0 || o.ranks > maxRanks) {
			t.Errorf("%q asks for %d ranks", line, o.ranks)
		}
	})
}

func TestReasons(t *testing.T) {
	of := func(rank int, msg string) error {
		return fmt.Errorf("rank %d: %w", rank, &session.Error{Msg: msg})
	}
	for _, test := range []struct {
		err  error
		want []string
	}{
		{errors.New("a"), []string{"a"}},
		{errors.Join(of(0, "a"), of(1, "a")), []string{"a"}},
		{errors.Join(of(0, "a"), of(1, "b")), []string{"rank 0: a", "rank 1: b"}},
		{errors.Join(of(0, "a"), errors.New("c")), []string{"rank 0: a", "c"}},
	} {
		if got := reasons(test.err); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}

// Options that choose an order need the cpu device, because a GPU chooses the order itself.
func TestOrderOnGPUs(t *testing.T) {
	for args, want := range map[string]string{
		"run a.go --sanitize":               "",
		"run a.go --sanitize --json":        "",
		"run a.go --sanitize --schedules 1": "--schedules: GPUs run threads, blocks and ranks in an order of their own: add --device cpu, or leave --schedules out",
		"--sanitize --seed 7":               "--seed: GPUs run threads, blocks and ranks in an order of their own: add --device cpu, or leave --seed out",
	} {
		o, err := parse(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := o.orderOnGPUs(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// On GPUs the error of --sanitize names compute-sanitizer if it is installed.
func TestSanitizeOnGPUs(t *testing.T) {
	for _, c := range []struct {
		err  error
		tool bool
	}{{nil, true}, {errors.New("not found"), false}} {
		text := onGPUs(func(name string) (string, error) { return "/opt/" + name, c.err })
		if !strings.Contains(text, "races, and orders that are too weak, are found with --device cpu") ||
			strings.Contains(text, "/opt/compute-sanitizer --target-processes all") != c.tool {
			t.Errorf("%v: %s", c.err, text)
		}
	}
}
