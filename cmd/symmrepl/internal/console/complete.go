package console

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/symmrepl/symmrepl/session"
)

// completeWithin bounds how long the user waits for candidates.
const completeWithin = 300 * time.Millisecond

// Complete returns what may be written in place of the end of an entry, the word at the cursor, sorted. word
// is that end. Candidates that do not begin with it are left out.
func (c *Console) Complete(ctx context.Context, entry string) (candidates []string, word string) {
	line := strings.TrimLeft(entry, " \t\n")
	word = lastWord(entry)
	if magical := strings.HasPrefix(line, magic); magical && !strings.Contains(line, "\n") {
		return matching([]string{"rank "}, line[len(magic):])
	} else if isCommand(line) && !magical {
		line = line[1:]
		name, arg, hasArg := strings.Cut(line, " ")
		switch {
		case !hasArg:
			return matching(commandNames(), name)
		case name == "help":
			return matching(commandNames(), strings.TrimSpace(arg))
		case name == "on" && !strings.Contains(arg, " "), name == "restart":
			return matching(c.rankLists(name), strings.TrimSpace(arg))
		case name == "type":
			entry = arg
		default:
			source, isCell := code(":" + line)
			if !isCell {
				return nil, word
			}
			entry = source
		}
	} else if source, isCell := code(entry); isCell {
		entry = source
	} else {
		return nil, word
	}

	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	asked := []int{0}
	if c.target != nil {
		asked = c.target[:1]
	}
	answers, err := c.Session.Inspect(ctx, asked, session.TopicComplete, entry)
	if err != nil || len(answers) == 0 || answers[0].Err != nil {
		return nil, word
	}
	return matching(strings.Fields(answers[0].Text), word)
}

// lastWord returns the identifier that ends text, or "".
func lastWord(text string) string {
	i := strings.LastIndexFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if i < 0 {
		return text
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return text[i+size:]
}

// matching returns the candidates that begin with word, sorted and without repeats.
func matching(candidates []string, word string) ([]string, string) {
	candidates = slices.DeleteFunc(candidates, func(s string) bool { return !strings.HasPrefix(s, word) })
	slices.Sort(candidates)
	return slices.Compact(candidates), word
}

func commandNames() []string {
	var names []string
	for _, cmd := range Commands() {
		names = append(names, cmd.Name)
	}
	return names
}

// rankLists returns what `:on` and `:restart` are usually given.
func (c *Console) rankLists(command string) []string {
	lists := []string{"all"}
	for r := range c.Printer.Size {
		lists = append(lists, strconv.Itoa(r))
	}
	if command == "restart" {
		lists = append(lists, "replay")
	}
	return lists
}
