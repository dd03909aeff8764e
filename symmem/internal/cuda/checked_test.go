package cuda

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// plainOnly are the kernels of the tutorials and of the sanitizer's corpus, by what compilers say of them, that cannot have checked pointers.
var plainOnly = map[string]string{}

// TestCheckedKernels: the kernels of the tutorials and of the sanitizer's corpus compile with checked pointers, too.
func TestCheckedKernels(t *testing.T) {
	c := compiler(t)
	checked := 0
	for _, s := range corpus(t) {
		_, unit, unread := snippet(s)
		if unread != nil {
			t.Fatal(unread)
		}
		if _, err := c.Compile(unit); err != nil {
			t.Errorf("%s:%d: %v", s.Name, s.Line, err)
			continue
		}
		_, unit, which := checkedSnippet(s)
		_, err := c.Compile(unit)
		if err != nil {
			t.Errorf("%s:%d: %v", s.Name, s.Line, err)
			continue
		}
		for _, k := range which {
			for _, is := range k {
				if is {
					checked++
				}
			}
		}
	}
	t.Logf("%d parameters are checked", checked)
}

var variant = regexp.MustCompile(`(?m)^.*// (right|wrong).*$`)

// corpus returns the texts of kernels of the tutorials, and those of the sanitizer's corpus, both right and wrong.
func corpus(t *testing.T) (all []device.Source) {
	tutorials, err := filepath.Glob("../../../tutorials/*.go")
	pairs, err2 := filepath.Glob("../../../cmd/symmrepl/testdata/sanitizer/*.txt")
	if err != nil || err2 != nil || len(tutorials) == 0 || len(pairs) == 0 {
		t.Fatal(err, err2, tutorials, pairs)
	}
	for _, file := range tutorials {
		list, err := kernelTexts(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	for _, file := range pairs {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range strings.Split(string(data), "\n== ")[1:] {
			for _, is := range []string{"right", "wrong"} {
				text := variant.ReplaceAllStringFunc(pair, func(line string) string {
					if variant.FindStringSubmatch(line)[1] != is {
						return ""
					}
					return line
				})
				title, _, _ := strings.Cut(pair, "\n")
				for i, part := range strings.Split(text, "`") {
					if i%2 == 1 && strings.Contains(part, "__global__") {
						all = append(all, device.Source{Name: filepath.Base(file) + " " + title + " " + is, Line: 1, Text: part})
					}
				}
			}
		}
	}
	return all
}
