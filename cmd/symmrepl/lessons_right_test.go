package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/cellfile"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// answersIn reads a file of answers to the exercises of a lesson, cells of a kind with the title of
// the exercise. The file is below the folder tutorials.
func answersIn(t *testing.T, lesson tutorial.Lesson, file, kind string) []cellfile.Cell {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../tutorials", file))
	if err != nil {
		t.Fatal(err)
	}
	cells := cellfile.All(string(text))[1:]
	for _, c := range cells {
		if c.Kind != kind {
			t.Fatalf("%s:%d: a cell // %%%% [%s] TITLE is expected", file, c.Line, kind)
		}
		if !slices.ContainsFunc(lesson.Exercises(), func(e *tutorial.Exercise) bool { return e.Title == c.Title }) {
			t.Errorf("%s has an answer to %q, which is no exercise of the lesson", file, c.Title)
		}
	}
	return cells
}

// rightAnswers returns the answers to the exercises of a lesson that its checks must accept, by
// title of the exercise: the solution, the same number in other types if it is a prediction, and
// the answers in the folder tutorials/right.
func rightAnswers(t *testing.T, lesson tutorial.Lesson) map[string][]tutorial.Cell {
	t.Helper()
	answers := map[string][]tutorial.Cell{}
	for _, e := range lesson.Exercises() {
		answers[e.Title] = append([]tutorial.Cell{e.Solution}, asOtherTypes(e.Solution)...)
	}
	file := filepath.Join("right", lesson.Name+".go")
	if _, err := os.Stat(filepath.Join("../../tutorials", file)); errors.Is(err, fs.ErrNotExist) {
		return answers
	}
	for _, c := range answersIn(t, lesson, file, "right") {
		answers[c.Title] = append(answers[c.Title], tutorial.Cell{File: file, Line: c.Line, Source: strings.TrimSpace(c.Source)})
	}
	return answers
}

// predicted matches the answer to a prediction.
var predicted = regexp.MustCompile(`^predict := ([^\n]*?)(\s*//.*)?$`)

// asOtherTypes returns the answer to a prediction with the same number in other types: a whole
// number is taught as 12, and a quotient of floats has a float's type. It returns nil for other
// answers.
func asOtherTypes(answer tutorial.Cell) (others []tutorial.Cell) {
	m := predicted.FindStringSubmatch(answer.Source)
	if m == nil {
		return nil
	}
	types, number := []string{"float64", "float32"}, m[1]
	if whole := strings.TrimSuffix(number, ".0"); !strings.ContainsAny(whole, ".(/") {
		types, number = append(types, "int", "int64"), whole
	}
	for _, typ := range types {
		other := answer
		other.Source = "predict := " + typ + "(" + number + ")"
		others = append(others, other)
	}
	return others
}
