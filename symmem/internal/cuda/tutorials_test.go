package cuda

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// The kernels of the tutorials, which other tests run on the cpu device, compile for a GPU too: all but those of cells that are to fail.
func TestTutorialKernels(t *testing.T) {
	c := compiler(t)
	files, err := filepath.Glob("../../../tutorials/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("tutorials: %v, %v", files, err)
	}
	for _, file := range files {
		sources, err := kernelTexts(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sources {
			found, unit, unread := snippet(s)
			if unread != nil || len(found) == 0 {
				t.Errorf("%s:%d: %d kernels were found: %v", s.Name, s.Line, len(found), unread)
				continue
			}
			compiles(t, c, "sm_90", unit, "")
		}
	}
}

// kernelTexts returns the raw strings of a file of cells that hold kernels, without those of cells that are to fail.
func kernelTexts(file string) ([]device.Source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	positions := set.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(positions, text, nil, scanner.ScanComments)
	var list []device.Source
	fails := false
	for {
		switch pos, tok, literal := s.Scan(); {
		case tok == token.EOF:
			return list, nil
		case tok == token.COMMENT && strings.HasPrefix(literal, "// %%"):
			fails = strings.HasPrefix(literal, "// %% [fails]")
		case tok == token.STRING && !fails && strings.HasPrefix(literal, "`") && strings.Contains(literal, "__global__"):
			list = append(list, device.Source{Name: filepath.Base(file), Line: positions.Line(pos), Text: strings.Trim(literal, "`")})
		}
	}
}
