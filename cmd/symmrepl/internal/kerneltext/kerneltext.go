package kerneltext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/symmrepl/symmrepl/internal/wholefile"
	"github.com/symmrepl/symmrepl/kernels"
)

// MaxSize bounds a text with its headers, in bytes.
const MaxSize = 16 << 20

// maxDepth bounds headers in headers.
const maxDepth = 100

// Options are the compiler's options for a file.
type Options struct {
	Folders []string // of -I, in order
	Defines []string // of -D: NAME or NAME=VALUE
}

// Text is a text for the compiler of kernels.
type Text struct {
	Source  string
	Lacks   []string // headers that were left out
	Headers []string // files that came in the place of an #include

	parts []part
}

// part is a run of lines of a text that come from one file.
type part struct {
	from int // the first, from 1
	file string
	line int // of the first in the file
}

// At returns the place of a line of the source.
func (t Text) At(line int) (file string, number int) {
	i, found := slices.BinarySearchFunc(t.parts, line, func(p part, line int) int { return p.from - line })
	if !found {
		i--
	}
	if i < 0 {
		return "", line
	}
	return t.parts[i].file, t.parts[i].line + line - t.parts[i].from
}

// Of returns the text of a file, whose own text the caller has read.
func Of(name, text string, o Options) (Text, error) {
	e := expander{folders: o.Folders, once: map[string]bool{}, line: 1}
	for _, d := range o.Defines {
		key, value, given := strings.Cut(d, "=")
		if !defined.MatchString(key) {
			return Text{}, fmt.Errorf("-D %s: a name is expected, or NAME=VALUE", d)
		}
		if !given {
			value = "1"
		}
		e.write(fmt.Sprintf("#define %s %s\n", key, value))
	}
	if err := e.expand(name, text, 0); err != nil {
		return Text{}, err
	}
	source := e.text.String()
	if bare := bare(source); len(e.lacks) > 0 || strings.Contains(bare, "<<<") || mainFunction.MatchString(bare) {
		source = withoutHost(source)
	}
	return Text{Source: source, Lacks: e.lacks, Headers: e.headers, parts: e.parts}, nil
}

var (
	defined      = regexp.MustCompile(`^[A-Za-z_]\w*(\([\w, ]*\))?$`)
	mainFunction = regexp.MustCompile(`\bint\s+main\s*\(`)
	include      = regexp.MustCompile(`^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)`)
)

// expander puts headers in the place of their directives.
type expander struct {
	text    strings.Builder
	line    int // of the end of text
	parts   []part
	folders []string
	once    map[string]bool // files that are in the text
	lacks   []string
	headers []string
}

// write adds to the text.
func (e *expander) write(text string) {
	e.text.WriteString(text)
	e.line += strings.Count(text, "\n")
}

// begin notes that the next line is a line of a file.
func (e *expander) begin(file string, line int) {
	if n := len(e.parts); n > 0 && e.parts[n-1].from == e.line {
		e.parts = e.parts[:n-1]
	}
	e.parts = append(e.parts, part{from: e.line, file: file, line: line})
}

// expand writes the text of a file.
func (e *expander) expand(name, text string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: headers include each other more than %d deep", name, maxDepth)
	}
	comment := false
	e.begin(name, 1)
	for i, line := range strings.SplitAfter(text, "\n") {
		m := include.FindStringSubmatch(line)
		if comment || m == nil {
			comment = staysOpen(line, comment)
			e.write(line)
			if e.text.Len() > MaxSize {
				return fmt.Errorf("%s: with its headers the text has more than %d MiB", name, MaxSize>>20)
			}
			continue
		}
		path, err := e.find(filepath.Dir(name), m[1], m[2])
		switch {
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, i+1, err)
		case path != "":
			if e.once[path] {
				e.write("\n")
				continue
			}
			e.once[path] = true
			header, err := wholefile.Read(path, "a header", MaxSize)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, i+1, err)
			}
			e.headers = append(e.headers, path)
			if err := e.expand(path, string(header), depth+1); err != nil {
				return err
			}
			e.write("\n")
			e.begin(name, i+2)
		case brought(m[1] + m[2]):
			e.write(line)
		default:
			if lack := m[1] + m[2]; !slices.Contains(e.lacks, lack) {
				e.lacks = append(e.lacks, lack)
			}
			e.write("\n")
		}
	}
	return nil
}

// find returns the file of an #include, "" if there is none.
func (e *expander) find(beside, quoted, angled string) (string, error) {
	name, folders := quoted, append([]string{beside}, e.folders...)
	if angled != "" {
		name, folders = angled, e.folders
	}
	if filepath.IsAbs(name) {
		folders = []string{""}
	}
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			return path, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !isNoFolder(err):
			return "", err
		}
	}
	return "", nil
}

// isNoFolder reports whether a path leads through something that is no folder.
func isNoFolder(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Err == syscall.ENOTDIR
}

// brought reports whether the compiler of kernels has a header.
func brought(name string) bool { return headers()[name] }

// staysOpen reports whether a comment of several lines is open behind a line.
func staysOpen(line string, open bool) bool {
	for {
		if open {
			_, rest, ends := strings.Cut(line, "*/")
			if !ends {
				return true
			}
			line, open = rest, false
			continue
		}
		begin := strings.Index(line, "/*")
		if begin < 0 {
			return false
		}
		if to := strings.Index(line, "//"); to >= 0 && to < begin {
			return false
		}
		line, open = line[begin+2:], true
	}
}

// headers holds the names of the headers that the compiler has, on every device.
var headers = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, files := range [][]kernels.File{kernels.Headers(), kernels.LibraryHeaders(), kernels.ToolkitHeaders(), kernels.CHeaders()} {
		for _, f := range files {
			names[f.Name] = true
		}
	}
	return names
})
