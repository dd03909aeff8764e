package symmemtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// declaration is a function, method or type of a source file.
type declaration struct {
	name    string // "Tensor.Fill", "symmem.Local", "Tensor" or "package symmem"
	pointer bool   // the receiver is a pointer
	doc     string // documentation, in one line
}

var declared = regexp.MustCompile(`^(?:func (?:\(\w+ (\*?)(\w+)\) )?(\w+)\(|type (\w+) |package (symmem)$)`)

// declarations reads the declarations of a package that begin in the first column, as gofmt formats
// them, and the documentation of package symmem. If the sources are missing, the test is skipped.
func declarations(t *testing.T, dir string) (list []declaration) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("the sources are not here")
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc []string
		for line := range strings.Lines(string(text)) {
			if comment, ok := strings.CutPrefix(line, "//"); ok {
				doc = append(doc, strings.Fields(comment)...)
				continue
			}
			if m := declared.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
				d := declaration{doc: strings.Join(doc, " ")}
				switch {
				case m[5] != "":
					d.name = "package " + m[5]
				case m[4] != "":
					d.name = m[4]
				case m[2] != "":
					d.name, d.pointer = m[2]+"."+m[3], m[1] != ""
				default:
					d.name = "symmem." + m[3]
				}
				list = append(list, d)
			}
			doc = nil
		}
	}
	return list
}
