//go:build linux && (amd64 || arm64)

package devicepage

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/kernels/reference"
	"github.com/symmrepl/symmrepl/symmem/internal/cpu"
	"github.com/symmrepl/symmrepl/symmem/internal/cuda"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// TestCurrent checks that the page and the data are those of the present headers.
func TestCurrent(t *testing.T) {
	all := Collect()
	page, err := os.ReadFile("../../../docs/kernels.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Page(all) {
		t.Error("docs/kernels.md is old: run go generate ./symmem/internal/devicepage")
	}
	stored, err := os.ReadFile("../../../kernels/reference/reference.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(all)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unpack(t, stored), unpack(t, packed)) {
		t.Error("the data of kernels/reference is old: run go generate ./symmem/internal/devicepage")
	}
}

func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil || !json.Valid(data) {
		t.Fatal("the data is damaged: ", err)
	}
	return data
}

// TestComplete checks that every name has a comment, and that functions which communicate have
// their contracts.
func TestComplete(t *testing.T) {
	all := Collect()
	for _, e := range all.Entries {
		if !e.Internal && e.Kind != "constant" && len(e.Texts) == 0 &&
			(strings.HasPrefix(e.Name, home) || strings.HasPrefix(e.Name, "nccl") || strings.HasPrefix(e.Name, "nvshmem")) {
			t.Errorf("%s: %s has no comment", e.Header, e.Name)
		}
		text := reference.Split(strings.Join(e.Texts, "\n\n"))
		if !e.Internal && (e.Header == "symm/remote.cuh" && e.Kind == "function" && slices.ContainsFunc(e.Decls, isForHandles)) {
			for _, label := range []string{"Order", "Waits"} {
				if text.Facts[label] == "" {
					t.Errorf("%s: the comment of %s has no paragraph that begins with %q", e.Header, e.Name, label+":")
				}
			}
			if len(text.Examples) == 0 {
				t.Errorf("%s: the comment of %s has no example", e.Header, e.Name)
			}
		}
	}
}

var figure = regexp.MustCompile(`\d+\.\d+|\d{2,}`)

// TestCosts checks that every figure of a cost is in the page of measurements that it names.
func TestCosts(t *testing.T) {
	found := 0
	for _, e := range Collect().Entries {
		cost := reference.Split(strings.Join(e.Texts, "\n\n")).Facts["Cost"]
		if cost == "" || strings.HasPrefix(cost, "see ") || strings.HasPrefix(cost, "that of a fence and of one store") {
			continue
		}
		m := regexp.MustCompile(`docs/(?:notes/)?(?:benchmarks|tuning)\.md, ([^).]+)`).FindStringSubmatch(cost)
		if m == nil {
			t.Errorf("%s: the cost names no page: %s", e.Name, cost)
			continue
		}
		file, _, _ := strings.Cut(m[0], ",")
		page, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		_, section, ok := strings.Cut(string(page), "# "+m[1]+"\n")
		if !ok {
			t.Errorf("%s: %s has no section %q", e.Name, file, m[1])
			continue
		}
		if next := strings.Index(section, "\n## "); next >= 0 {
			section = section[:next]
		}
		what, _, _ := strings.Cut(cost, "(docs/")
		for _, f := range figure.FindAllString(strings.ReplaceAll(what, "H200", ""), -1) {
			found++
			if !strings.Contains(section, f) && f != "100" {
				t.Errorf("%s: %s does not have the figure %s of: %s", e.Name, m[0], f, cost)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d figures were found", found)
	}
}

// snippets returns a unit for the examples of symm.cuh and CUDA, and one for those of NCCL.
func snippets(all *reference.Reference) (list []device.Source) {
	const includes = "#include \"nccl_device.h\"\n#include \"nvshmem.h\"\n#include \"cooperative_groups.h\"\n#include \"cooperative_groups/reduce.h\"\n#include \"cooperative_groups/scan.h\"\n" +
		"#include \"cuda/atomic\"\n#include \"cuda_fp16.h\"\n#include \"cuda_bf16.h\"\n#include \"cuda_fp8.h\"\n"
	units := []struct {
		name, parameters string
		text             strings.Builder
	}{
		{name: "symm", parameters: "symm::Handle h, float* x, int n, int peer, unsigned channel"},
		{name: "nccl", parameters: "ncclDevComm comm, ncclWindow_t window, float* x, int n, int peer"},
		{name: "nvshmem", parameters: "float* data, uint64_t* sig, float* x, int n, int peer"},
	}
	n := 0
	add := func(header, name, text string) {
		for _, example := range reference.Split(text).Examples {
			u := &units[0]
			switch {
			case strings.HasPrefix(header, "nccl"):
				u = &units[1]
			case strings.HasPrefix(header, "nvshmem"):
				u = &units[2]
			}
			n++
			fmt.Fprintf(&u.text, "\n// %s, %s\nextern \"C\" __global__ void example_%d(%s) {\n%s\n}\n", header, name, n, u.parameters, example)
		}
	}
	for _, h := range all.Headers {
		add(h.Name, "its comment", h.Text)
		for _, b := range blocksOf(all, h.Name) {
			add(h.Name, b[0].Name, strings.Join(b[0].Texts, "\n\n"))
		}
	}
	for i := range units {
		list = append(list, device.Source{Name: "examples of " + units[i].name, Line: 1, Text: includes + units[i].text.String()})
	}
	return list
}

// TestExamples compiles every example of the page for both devices.
func TestExamples(t *testing.T) {
	units := snippets(Collect())
	count := 0
	for _, u := range units {
		count += strings.Count(u.Text, "__global__")
	}
	if t.Logf("%d examples", count); count < 50 {
		t.Errorf("only %d examples were found", count)
	}
	t.Run("cpu", func(t *testing.T) {
		d, err := cpu.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for _, u := range units {
			compiles(t, u, func() error {
				_, err := d.Compile(u)
				return err
			})
		}
	})
	t.Run("cuda", func(t *testing.T) {
		for _, u := range append(units, wholeKernels(t)...) {
			compiles(t, u, func() error {
				_, err := cuda.Cubin(u, "sm_90")
				return err
			})
		}
	})
}

func compiles(t *testing.T, u device.Source, compile func() error) {
	t.Helper()
	err := compile()
	var missing *device.UnavailableError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	var refused *device.CompileError
	if errors.As(err, &refused) {
		for i, line := range strings.Split(u.Text, "\n") {
			if slices.ContainsFunc(refused.Diagnostics, func(d device.Diagnostic) bool { return d.Line == i+1 }) {
				t.Errorf("%s, line %d: %s", u.Name, i+1, line)
			}
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// wholeKernels returns the kernels in the cells of the page. Their programs run in the tests of
// cmd/symmrepl.
func wholeKernels(t *testing.T) (list []device.Source) {
	for _, e := range wholeExamples() {
		parts := strings.Split(e.code, "`")
		for i := 1; i < len(parts); i += 2 {
			list = append(list, device.Source{Name: e.title, Line: 1, Text: parts[i]})
		}
		if len(parts) < 3 {
			t.Errorf("%s has no kernel", e.title)
		}
	}
	return list
}
