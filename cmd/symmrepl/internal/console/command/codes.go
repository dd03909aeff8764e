package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
	"github.com/symmrepl/symmrepl/session"
)

// turns is the line between two codes in the text of a command.
const turns = "%%"

// parted splits a text into its codes.
func parted(text string) []string {
	codes := []string{""}
	for line := range strings.Lines(text) {
		if isTurn(line) {
			codes = append(codes, "")
			continue
		}
		codes[len(codes)-1] += line
	}
	return codes
}

func isTurn(line string) bool { return strings.TrimSpace(line) == turns }

// lastCode returns the last code of a text.
func lastCode(text string) string {
	codes := parted(text)
	return codes[len(codes)-1]
}

// needCode refuses codes that are empty.
func needCode(text string) error {
	if slices.ContainsFunc(parted(text), func(code string) bool { return strings.TrimSpace(code) == "" }) {
		return errors.New("there is no code to run")
	}
	return nil
}

// calling is a cell that calls a function of symm, after other arguments with the codes of a text as
// functions. Each line of the text is on a line of its own, as Cell.Typed needs it. If a code does
// not parse, the cell is that code alone, so that the error is about nothing else.
func calling(c *console.Console, text, function string, args ...string) session.Cell {
	above := 0
	for _, code := range parted(text) {
		if !c.Parses(code) {
			return session.Cell{Source: strings.Repeat("\n", above) + strings.TrimRight(code, "\r\n"), Typed: text}
		}
		above += strings.Count(code, "\n") + 1
	}
	var b strings.Builder
	fmt.Fprintf(&b, "symm.%s(%s", function, strings.Join(append(args, "func() { "), ", "))
	for line := range strings.Lines(text) {
		if isTurn(line) {
			line = "}, func() {\n"
		}
		b.WriteString(line)
	}
	return session.Cell{Source: strings.TrimRight(b.String(), "\r\n") + "\n})", Typed: text}
}
