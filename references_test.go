package symmrepl

import (
	"bufio"
	"bytes"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fileName matches the name of a file of source or documentation, with or without folders before it.
var fileName = regexp.MustCompile(`(?:^|[^\w/.*-])([A-Za-z0-9][\w/.-]*\.(?:go|cuh?|h|c|cpp|md))\b`)

// systemHeader matches the name of a header that is a compiler's or another project's.
var systemHeader = regexp.MustCompile(`<[\w/.]+>`)

// elsewhere lists the names that comments and pages give files of users and of other projects.
var elsewhere = strings.Fields(`
	FILE.go cellN.cu cellN_cpu.cpp main.cpp f.go ar.go r.c script.go util.go NN-name.go op.cu
	OPERATION.cu NAME.go NAME.cu NAME/args.go NAME_test.go

	ddd.go issue17039.go peano.go export0.go export1.go eval0.go deferfin.go typeparam/chans.go issue46725.go closure.go issue36516.go
	issue4618.go issue4667.go heapsampling.go nilptr.go import4.go abi/uglyfib.go issue79186.go issue24491b.go issue45045.go

	src/device/prims_ll128.h

	CUDASymmetricMemory-inl.cuh buffer.cuh conjugateGradientMultiDeviceCG.cu csrc/kernels/legacy/intranode.cu
	include/flashinfer/comm/trtllm_allreduce.cuh include/flashinfer/comm/vllm_custom_all_reduce.cuh mma.h mpi/jacobi_kernels.cu
	multi_node_p2p/jacobi_kernels.cu multimem_ops.h p2pBandwidthLatencyTest.cu simpleAWBarrier.cu src/all_reduce.cu src/alltoall.cu
	utils.cuh vec_dtypes.cuh vector_types.h
`)

// TestReferences holds that the files that comments and pages name exist, here or in a folder that
// the reader knows.
func TestReferences(t *testing.T) {
	files := tree(t)
	known := map[string]bool{}
	for _, file := range files {
		for at := file; at != ""; _, at, _ = strings.Cut(at, "/") {
			known[at] = true
		}
	}
	found := 0
	for _, file := range files {
		if strings.Contains(file, "testdata/") {
			continue
		}
		for _, text := range prose(t, file) {
			text = systemHeader.ReplaceAllString(text, "")
			for _, m := range fileName.FindAllStringSubmatch(text, -1) {
				found++
				isElsewhere := slices.ContainsFunc(elsewhere, func(name string) bool { return m[1] == name || strings.HasSuffix(m[1], "/"+name) })
				if !known[m[1]] && !isElsewhere {
					t.Errorf("%s names %s, which is not there: %s", file, m[1], strings.TrimSpace(text))
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("comments and pages name %d files; the expression that finds them misses most", found)
	}
}

// built lists the folders at the top that make builds.
var built = []string{"build", "bin", "gpu-bundle", "gpu-export"}

// tree lists the files of the repository, but for those of folders that are not its own.
func tree(t *testing.T) []string {
	var files []string
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains(built, name) || name != "." && name[0] == '.' && name != ".ci"):
			return fs.SkipDir
		case !e.IsDir():
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// prose returns the comments of a source, or the lines of a page that are not in a block of code.
func prose(t *testing.T, file string) []string {
	read, ok := map[string]func(text []byte) []string{
		".go": goComments, ".md": pageLines,
		".c": lineComments, ".h": lineComments, ".cpp": lineComments, ".cu": lineComments, ".cuh": lineComments,
	}[filepath.Ext(file)]
	if !ok {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return read(text)
}

// goComments returns the comments of Go, but for the C that they include.
func goComments(text []byte) []string {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	var comments []string
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return comments
		case tok == token.COMMENT:
			for line := range strings.Lines(literal) {
				if !strings.Contains(line, "#include") {
					comments = append(comments, line)
				}
			}
		}
	}
}

// lineComments returns the texts behind // in C++.
func lineComments(text []byte) []string {
	var comments []string
	for _, line := range lines(text) {
		if _, comment, ok := strings.Cut(line, "//"); ok {
			comments = append(comments, comment)
		}
	}
	return comments
}

// pageLines returns the lines of Markdown outside of code blocks.
func pageLines(text []byte) []string {
	var page []string
	fenced := false
	for _, line := range lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case !fenced && !strings.HasPrefix(line, "    "):
			page = append(page, line)
		}
	}
	return page
}

func lines(text []byte) (all []string) {
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}
