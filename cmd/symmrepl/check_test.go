package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checks returns a home whose programs run in the folder of the cases.
func checks(t *testing.T) home {
	h := newHome(t, 4)
	h.cwd = "testdata/check"
	return h
}

// Cases of a file with headers, host code and main pass on the ranks that they are for; a case that
// ends a rank costs itself only.
func TestCheck(t *testing.T) {
	t.Parallel()
	h := checks(t)
	got := h.run("", "check", "-v", "--device", device(), "-n", "2,4", "-Iinclude", "right.cu")
	if got.status != 0 {
		t.Fatalf("status %d\n%s%s", got.status, got.out, got.err)
	}
	for _, want := range []string{
		"--- ok: one_shot at right.cu:8 on 2 ranks (", "--- ok: one_shot at right.cu:8 on 4 ranks (", "--- ok: again at right.cu:14 on 3 ranks (",
		"--- ok: shift at right.cu:32 on 4 ranks (", "--- ok: race at right.cu:48 on 4 ranks (", "--- ok: dies at right.cu:59 on 2 ranks (",
		"--- ok: after at right.cu:64 on 2 ranks (", "ok  \tright.cu\t10 results\t",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("lacks %q:\n%s", want, got.out)
		}
	}
	if got.err != "10 passed\n" {
		t.Errorf("standard error %q", got.err)
	}
	if left := h.leftovers(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Each wrong case is told once, with its line, in every form of output; the right one behind them
// passes.
func TestCheckWrong(t *testing.T) {
	t.Parallel()
	h := checks(t)
	junit, sarif := filepath.Join(h.dir, "j.xml"), filepath.Join(h.dir, "s.sarif")
	got := h.run("", "check", "--device", device(), "-n", "2", "--timeout", "5s", "--junit", junit, "--sarif", sarif, "wrong.cu")
	if got.status != 1 || got.err != "1 passed, 10 failed\n" {
		t.Errorf("status %d, %q\n%s", got.status, got.err, got.out)
	}
	for _, want := range []string{
		"--- FAIL: value at wrong.cu:1 on 2 ranks (", "\n    [0,1] wrong.cu:4: rank 0,1: 9 of 10 elements of x are not 3 * i\n    [0,1]       x[1] is 2, want 3\n",
		"\n    [0,1] wrong.cu:11: scale<float>: scale<float>(float* x, float by, int n): argument 2, \"float by\", cannot be the tensor f32[10]\n",
		"\n    [0,1] out of bounds: right behind f32[10], where element 10 would be\n    [0,1]   wrong.cu:6:25: rank 0, kernel scale<float>, block [0 0 0], thread [10 0 0], reads 4 bytes (launched at wrong.cu:15)\n",
		"\n    [0,1] wrong.cu:18: undefined: y\n    [0,1]     // scale<float><<<1, 32>>>(y, 2.f, 11)\n",
		"wrong.cu:21: expect.Symmetric", "\n    wrong.cu:27: this did not come: race\n", "\n    not done after 5s\n", "the worker was killed (SIGKILL)\n",
		"\n    [0,1] wrong.cu:37: on purpose\n", "\n    [0] rank 0\n    [1] rank 1\n", "FAIL\twrong.cu\t11 results\t",
		"cannot be a []uintptr\n    [0,1]     // pair<<<1, 1>>>(table(x, 3))\n    [0,1]     hint: it has 24 bytes, and the parameter 16\n",
	} {
		want = strings.ReplaceAll(want, "expect.Symmetric", "expect.Local")
		if !strings.Contains(got.out, want) {
			t.Errorf("lacks %q:\n%s", want, got.out)
		}
	}

	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Type string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	text, err := os.ReadFile(junit)
	if err == nil {
		err = xml.Unmarshal(text, &suites)
	}
	if err != nil || suites.Tests != 11 || suites.Failures != 10 || len(suites.Suites) != 1 || len(suites.Suites[0].Cases) != 11 {
		t.Fatalf("%+v %v\n%s", suites, err, text)
	}
	kinds := map[string]string{}
	for _, c := range suites.Suites[0].Cases {
		if c.Failure != nil {
			kinds[c.Name] = c.Failure.Type
		}
	}
	for name, want := range map[string]string{"value[2]": "panic", "argument[2]": "misuse", "bounds[2]": "out of bounds", "undefined[2]": "type",
		"formula[2]": "misuse", "no_race[2]": "missing", "killed[2]": "died", "right[2]": ""} {
		if kinds[name] != want {
			t.Errorf("%s: %q, want %q", name, kinds[name], want)
		}
	}

	var log struct {
		Version string
		Runs    []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	text, err = os.ReadFile(sarif)
	if err == nil {
		err = json.Unmarshal(text, &log)
	}
	if err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	lines := map[string]bool{}
	for _, r := range log.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		lines[fmt.Sprint(r.RuleID, " ", at.ArtifactLocation.URI, ":", at.Region.StartLine)] = true
	}
	for _, want := range []string{"panic wrong.cu:4", "misuse wrong.cu:11", "out-of-bounds wrong.cu:6", "type wrong.cu:18", "missing wrong.cu:27"} {
		if !lines[want] {
			t.Errorf("lacks %q: %v", want, lines)
		}
	}

	got = h.run("", "check", "--device", device(), "-n", "2", "--json", "--only", "right", "wrong.cu")
	var line struct {
		Case, Status string
		Ranks        int
	}
	if err := json.Unmarshal([]byte(got.out), &line); err != nil || line.Case != "right" || line.Status != "passed" || line.Ranks != 2 || got.status != 0 {
		t.Errorf("%+v %v %+v", line, err, got)
	}
}

// Mistakes are told before anything runs, with status 2, and files of results keep their contents.
func TestCheckRefusals(t *testing.T) {
	t.Parallel()
	h := checks(t)
	h.cwd = t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(h.cwd, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("none.cu", "__global__ void k() {}")
	write("two/a.cu", "// symm: test a\n// k<<<1>>>()")
	write("two/b.cuh", "// symm: tset b\n")
	write("two/.git/c.cu", "// symm: nonsense\n")
	write("empty/a.cu", "")
	write("binary/a.cu", "\xff\xfe\x00 symm: \x00")
	write("old.xml", "old")
	write("main.cu", "// symm: test main\n// go _ = 1\nint main() { return 1; }\n")
	write("many/x.cu", "// symm: test x\n// x f32[1]\n// expect x == 0\n")
	write("db/compile_commands.json", "[{")
	for i := range 300 {
		write(fmt.Sprintf("many/%d/n.cu", i), "")
	}
	for name, target := range map[string]string{"many/circle": ".", "many/1/circle": "../..", "many/gone.cu": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(h.cwd, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(h.cwd, "many/pipe.cu"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 2, "check needs files with cases, or folders: symmrepl check tests/"},
		{"nosuch", 2, "stat nosuch: no such file or directory"},
		{"none.cu", 2, "none.cu has no cases: a case is a comment that begins with // symm: test NAME"},
		{"empty binary", 2, "there are no cases in empty binary"},
		{"two", 2, "two/a.cu:2:9: , is expected behind the size of the grid, not >>\n"},
		{"two", 2, "two/b.cuh:1:10: test is expected behind symm:, not tset"},
		{"main.cu --only nosuch", 2, "no case has a name that contains nosuch"},
		{"main.cu -j -1", 2, "-j -1: a number from 1 on is expected"},
		{"main.cu -n 2,x", 2, "a number is expected"},
		{"main.cu -n 2,2000", 2, "a number from 1 to 1024 is expected"},
		{"main.cu -D 3x", 2, "-D 3x: a name is expected, or NAME=VALUE"},
		{"main.cu -p db", 2, "-p: db/compile_commands.json: unexpected end of JSON input"},
		{"main.cu -p nosuch", 2, "-p: open nosuch/compile_commands.json: no such file or directory"},
		{"main.cu --junit nosuch/x.xml", 3, "--junit: open nosuch/x.xml: no such file or directory"},
		{"main.cu --sanitize", 2, "--sanitize applies to run, torchrun, -e and the prompt only"},
		{"main.cu --device cpu -n 1 --junit old.xml --sarif nosuch/x", 3, "--sarif: open nosuch/x: no such file or directory"},
		{"main.cu --device cpu -n 1", 0, "1 passed"},
		{"many --device cpu -n 1", 0, "1 passed"},
		{"main.cu --device cpu -n 1 --junit /dev/full", 3, "no space left on device"},
	} {
		got := h.run("", append([]string{"check"}, strings.Fields(c.args)...)...)
		text := strings.ReplaceAll(got.err, "\n  ", " ")
		if got.status != c.status || !strings.Contains(strings.Join(strings.Fields(text), " ")+"\n", strings.Join(strings.Fields(c.want), " ")) {
			t.Errorf("%s: status %d\n%s%s\nwant %d, %s", c.args, got.status, got.out, got.err, c.status, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.cwd, "old.xml")); err != nil || string(text) != "old" {
		t.Errorf("old.xml: %q, %v", text, err)
	}
}

// After Ctrl-C the files of results are whole: what did not run is there, too.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	h := checks(t)
	junit := filepath.Join(h.dir, "j.xml")
	cmd := h.command("check", "-v", "--device", device(), "-n", "2", "--junit", junit, "--only", "e", "wrong.cu")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience(), func() { cmd.Process.Kill() })
	defer timer.Stop()
	time.Sleep(4 * time.Second) // the case endless runs for a minute
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("status %d, want 130\n%s%s", got, out.String(), errs.String())
	}
	var suites struct {
		Tests  int `xml:"tests,attr"`
		Suites []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	text, err := os.ReadFile(junit)
	if err == nil {
		err = xml.Unmarshal(text, &suites)
	}
	skipped := 0
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			if c.Skipped != nil {
				skipped++
			}
		}
	}
	if err != nil || suites.Tests != strings.Count(string(text), "<testcase") || skipped == 0 {
		t.Errorf("%v, %d skipped\n%s", err, skipped, text)
	}
	if left := h.leftovers(); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
