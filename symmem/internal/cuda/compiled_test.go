package cuda

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/cuda/cubin"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// compiledFile lists the units that NVRTC has compiled: a key of each, made of all that the compiler
// gets except comments. A unit on the list is not compiled again. A test compiles the others;
// -record compiles all and writes the list.
const compiledFile = "testdata/compiled.txt"

var recordUnits = flag.Bool("record", false, "compile all units with NVRTC, and write "+compiledFile)

var units struct {
	sync.Mutex
	listed   map[string]bool
	compiled map[string]bool // in this run
}

func TestMain(m *testing.M) {
	flag.Parse()
	units.listed, units.compiled = map[string]bool{}, map[string]bool{}
	if text, err := os.ReadFile(compiledFile); err == nil && !*recordUnits {
		for key := range strings.FieldsSeq(string(text)) {
			units.listed[key] = true
		}
	}
	code := m.Run()
	removeFakes()
	if *recordUnits && len(units.compiled) == 0 {
		fmt.Println("-record: no unit was compiled: set SYMMREPL_NVRTC")
		code = 1
	} else if *recordUnits && code == 0 {
		keys := strings.Join(slices.Sorted(maps.Keys(units.compiled)), "\n") + "\n"
		if err := os.WriteFile(compiledFile, []byte(keys), 0o644); err != nil {
			panic(err)
		}
	} else if n := len(units.compiled); n > 0 {
		fmt.Printf("%d units were compiled that are not on the list: go test ./symmem/internal/cuda -record\n", n)
	}
	os.Exit(code)
}

// compiles fails the test if a unit that is not on the list does not compile, or if its machine code
// lacks a kernel; "" stands for none.
func compiles(t *testing.T, c *cubin.Compiler, arch string, u cubin.Unit, kernel string) {
	t.Helper()
	key := unitKey(c, arch, u)
	units.Lock()
	listed := units.listed[key]
	units.Unlock()
	if listed {
		return
	}
	code, err := c.Compile(u)
	if err != nil {
		t.Errorf("%s, %s:%d: %v", arch, u.Name, u.Line, err)
		return
	}
	if kernel != "" && !strings.Contains(string(code.Cubin), "\x00.text."+kernel+"\x00") {
		t.Errorf("%s, %s: the cubin has no kernel of that name", arch, kernel)
		return
	}
	units.Lock()
	units.compiled[key] = true
	units.Unlock()
}

// unitKey is a hash of what the compiler gets, and of its version.
func unitKey(c *cubin.Compiler, arch string, u cubin.Unit) string {
	version, _, _ := strings.Cut(c.Describe(), " (")
	fields := []string{version, arch, withoutComments(u.Text), u.State}
	for _, h := range slices.Concat(u.Headers, u.StandIns) {
		fields = append(fields, h[0], withoutComments(h[1]))
	}
	for _, list := range [][]string{u.Includes, u.Options, u.Expressions} {
		fields = append(append(fields, "list"), list...)
	}
	return kernelcache.Key(fields...)[:32]
}

// blockComment matches a comment that ends in its line.
var blockComment = regexp.MustCompile(`/\*.*?\*/`)

// withoutComments returns a text without comments that end with or in their lines, and without the
// lines that are then empty.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "//")
		if strings.Contains(code, `"`) {
			code = line // the slashes may be in a string
		} else {
			code = blockComment.ReplaceAllString(code, "")
		}
		if code = strings.TrimSpace(code); code != "" && code != `\` && !strings.HasPrefix(code, "//") {
			b.WriteString(code + "\n")
		}
	}
	return b.String()
}
