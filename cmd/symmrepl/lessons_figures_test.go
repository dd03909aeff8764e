package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
)

// benchmarkPage is the page with the measurements.
const benchmarkPage = "benchmarks.md"

// A figure in a text is a number with a unit of time or bandwidth. In code, where numbers have no
// units, it is a number with a decimal point.
var (
	figureInText = regexp.MustCompile(`(\d+(?:\.\d+)?)(?:(?:,| to| and|–) (\d+(?:\.\d+)?))* ?(?:ns|µs|us|ms|s|GB/s|TB/s|MB/s|%)(?:\W|$)`)
	figureInCode = regexp.MustCompile(`\b\d+\.\d+\b`)
	number       = regexp.MustCompile(`\d+(?:\.\d+)?`)
	sentenceEnd  = regexp.MustCompile(`\.\)?\s+`)
)

// TestFigures: the sentences of the lessons and of the docs that name the page of benchmarks, and
// the cells of code that do, have only figures of that page. A sentence in parentheses that names the
// page stands for the one before it.
func TestFigures(t *testing.T) {
	if device() != "cpu" {
		t.Skip("compares files of the repository, which are the same for all devices")
	}
	page, err := os.ReadFile("../../docs/" + benchmarkPage)
	if err != nil {
		t.Fatal(err)
	}
	measured := number.FindAllString(string(page), -1)
	compared := 0
	check := func(place, text string, figures *regexp.Regexp) {
		for _, found := range figures.FindAllString(text, -1) {
			for _, n := range number.FindAllString(found, -1) {
				compared++
				if !slices.Contains(measured, n) {
					t.Errorf("%s: %s (%q) is not in %s:\n%s", place, n, found, benchmarkPage, text)
				}
			}
		}
	}
	prose := func(place, text string) {
		for _, paragraph := range strings.Split(text, "\n\n") {
			for _, item := range strings.Split(paragraph, "\n- ") {
				for _, said := range naming(item) {
					check(place, said, figureInText)
				}
			}
		}
	}
	var docs []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/notes/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		docs = append(docs, files...)
	}
	for _, file := range docs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) != benchmarkPage {
			prose(file, string(text))
		}
	}
	lessons, err := filepath.Glob("../../tutorials/*.go")
	if err != nil || len(lessons) == 0 {
		t.Fatalf("tutorials: %v, %v", lessons, err)
	}
	comment := regexp.MustCompile(`(?m)^// ?`)
	for _, file := range lessons {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cellfile.All(string(text)) {
			switch {
			case !strings.Contains(c.Source, benchmarkPage):
			case c.Kind == "markdown" || c.Kind == "exercise" || c.Kind == "hint":
				prose(file, comment.ReplaceAllString(c.Source, ""))
			default:
				check(file, c.Source, figureInCode)
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d figures were compared", compared)
	}
}

// naming returns the sentences of a paragraph that name the page of benchmarks: each with the one
// before it if it begins with a parenthesis.
func naming(paragraph string) (list []string) {
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	before := ""
	for _, sentence := range sentences(paragraph) {
		if strings.Contains(sentence, benchmarkPage) {
			if strings.HasPrefix(sentence, "(") {
				sentence = before + " " + sentence
			}
			list = append(list, sentence)
		}
		before = sentence
	}
	return list
}

func sentences(text string) (list []string) {
	from := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		list, from = append(list, text[from:at[1]]), at[1]
	}
	return append(list, text[from:])
}
