package kerneltext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
}

// Of returns the text of a file, whose own text the caller has read.
func Of(name, text string, o Options) (Text, error) {
	e := expander{folders: o.Folders, once: map[string]bool{}}
	var b strings.Builder
	for _, d := range o.Defines {
		key, value, given := strings.Cut(d, "=")
		if !defined.MatchString(key) {
			return Text{}, fmt.Errorf("-D %s: a name is expected, or NAME=VALUE", d)
		}
		if !given {
			value = "1"
		}
		fmt.Fprintf(&b, "#define %s %s\n", key, value)
	}
	if len(o.Defines) > 0 {
		b.WriteString(lineMark(1, name))
	}
	if err := e.expand(&b, name, text, 0); err != nil {
		return Text{}, err
	}
	source := b.String()
	if bare := bare(source); len(e.lacks) > 0 || strings.Contains(bare, "<<<") || mainFunction.MatchString(bare) {
		source = withoutHost(source)
	}
	return Text{source, e.lacks, e.headers}, nil
}

var (
	defined      = regexp.MustCompile(`^[A-Za-z_]\w*(\([\w, ]*\))?$`)
	mainFunction = regexp.MustCompile(`\bint\s+main\s*\(`)
	include      = regexp.MustCompile(`^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)`)
)

// lineMark is the directive that gives the next line its place.
func lineMark(line int, name string) string {
	return "#line " + strconv.Itoa(line) + " " + strconv.Quote(name) + "\n"
}

// expander puts headers in the place of their directives.
type expander struct {
	folders []string
	once    map[string]bool // files that are in the text
	lacks   []string
	headers []string
}

// expand writes the text of a file.
func (e *expander) expand(b *strings.Builder, name, text string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: headers include each other more than %d deep", name, maxDepth)
	}
	comment := false
	for i, line := range strings.SplitAfter(text, "\n") {
		m := include.FindStringSubmatch(line)
		if comment || m == nil {
			comment = staysOpen(line, comment)
			b.WriteString(line)
			if b.Len() > MaxSize {
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
				b.WriteString("\n")
				continue
			}
			e.once[path] = true
			header, err := wholefile.Read(path, "a header", MaxSize)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, i+1, err)
			}
			e.headers = append(e.headers, path)
			b.WriteString(lineMark(1, path))
			if err := e.expand(b, path, string(header), depth+1); err != nil {
				return err
			}
			b.WriteString("\n" + lineMark(i+2, name))
		case brought(m[1] + m[2]):
			b.WriteString(line)
		default:
			if lack := m[1] + m[2]; !slices.Contains(e.lacks, lack) {
				e.lacks = append(e.lacks, lack)
			}
			b.WriteString("\n")
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
