package checking

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/session"
)

// Kernels are compiled as one text, whose positions begin with the title of its source. The functions
// below give them the files and lines from which the text comes.

// placed gives an error its file and line. In a case it loses the column, which is one of the Go that
// stands for the line.
func (s *Source) placed(e *session.Error) {
	e.Msg, e.Hint, e.Detail = s.places(e.Msg), s.places(e.Hint), s.places(e.Detail)
	if e.File == s.title {
		e.File, e.Line = s.text.At(e.Line)
		return
	}
	if s.cells != nil || e.File != s.Name || e.Line < 1 || e.Line > len(s.lines) {
		return
	}
	e.Column, e.Source = 0, strings.TrimSpace(s.lines[e.Line-1])
	if e.Kind == session.KindPanic {
		e.Msg = strings.TrimPrefix(e.Msg, "panic: ")
	}
}

// placedFinding returns a finding with the files and lines of its accesses.
func (s *Source) placedFinding(f session.Finding) session.Finding {
	f.Accesses = slices.Clone(f.Accesses)
	for i := range f.Accesses {
		a := &f.Accesses[i]
		if a.File == s.title {
			a.File, a.Line = s.text.At(a.Line)
		}
		a.At = s.places(a.At)
	}
	f.Memory, f.Order, f.Repair, f.Allowed = s.places(f.Memory), s.places(f.Order), s.places(f.Repair), s.places(f.Allowed)
	return f
}

// places gives the positions in a text their files and lines.
func (s *Source) places(text string) string {
	if s.cells != nil || !strings.Contains(text, s.title) {
		return text
	}
	return regexp.MustCompile(regexp.QuoteMeta(s.title)+`:(\d+)`).ReplaceAllStringFunc(text, func(m string) string {
		line, err := strconv.Atoi(m[len(s.title)+1:])
		if err != nil {
			return m
		}
		file, line := s.text.At(line)
		return file + ":" + strconv.Itoa(line)
	})
}
