package console

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
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
// is that end. Candidates begin with it; if none does, they do but for case.
func (c *Console) Complete(ctx context.Context, entry string) (candidates []session.Candidate, word string) {
	line := strings.TrimLeft(entry, " \t\n")
	if strings.HasPrefix(line, "$") {
		return c.files(shellWord(line[1:]))
	}
	if strings.HasPrefix(line, magic) && !strings.Contains(line, "\n") {
		if list, ok := strings.CutPrefix(line, magic+"rank ["); ok {
			return c.ranksAfter(list, nil)
		}
		return matching("command", []string{"rank ["}, line[len(magic):])
	}
	if isCommand(line) && !strings.HasPrefix(line, magic) {
		name, arg, hasArg := strings.Cut(line[1:], " ")
		if !hasArg {
			return matching("command", commandNames(), name)
		}
		if cmd, err := lookup(name); err == nil {
			name = cmd.Name
		}
		arg = strings.TrimLeft(arg, " ")
		switch name {
		case "help":
			return matching("command", commandNames(), strings.TrimLeft(arg, ":%"))
		case "restart":
			return c.ranksAfter(arg, []string{"all", "replay"})
		case "save", "load", "export":
			return c.files(arg)
		case "cd":
			candidates, word := c.files(arg)
			return slices.DeleteFunc(candidates, func(f session.Candidate) bool { return !strings.HasSuffix(f.Name, "/") }), word
		case "on":
			if !strings.Contains(arg, " ") {
				return c.ranksAfter(arg, []string{"all"})
			}
		}
	}
	source, isGo := completable(entry)
	if !isGo {
		return nil, lastWord(entry)
	}
	return c.goCandidates(ctx, source)
}

// completable returns the Go at the end of an entry: a cell's, or that of a command which takes an expression or a name.
func completable(entry string) (source string, isGo bool) {
	line := strings.TrimLeft(entry, " \t\n")
	if isCommand(line) && !strings.HasPrefix(line, magic) {
		name, arg, _ := strings.Cut(line[1:], " ")
		switch cmd, _ := lookup(name); cmd.Name {
		case "type", "doc":
			return arg, true
		case "time", "trace", "on":
			return code(":" + cmd.Name + " " + arg)
		}
		return "", false
	}
	return code(entry)
}

// goCandidates asks the first of the target ranks.
func (c *Console) goCandidates(ctx context.Context, source string) (candidates []session.Candidate, word string) {
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	answers, err := c.Session.Inspect(ctx, c.asked(), session.Query{Topic: session.TopicComplete, Arg: source})
	if err != nil || len(answers) == 0 || answers[0].Err != nil {
		return nil, lastWord(source)
	}
	candidates, word = answers[0].Candidates, lastWord(source)
	if len(candidates) > 0 && strings.Contains(candidates[0].Name, "/") { // an import path
		word = source[strings.LastIndexAny(source, "\"`")+1:]
	}
	return candidates, word
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

// matching returns those of texts that begin with word, sorted.
func matching(kind string, texts []string, word string) ([]session.Candidate, string) {
	var candidates []session.Candidate
	for _, text := range slices.Sorted(slices.Values(texts)) {
		if strings.HasPrefix(text, word) {
			candidates = append(candidates, session.Candidate{Name: text, Kind: kind})
		}
	}
	return candidates, word
}

func commandNames() []string {
	var names []string
	for _, cmd := range Commands() {
		names = append(names, cmd.Name)
	}
	return names
}

// ranksAfter completes a list of ranks such as "0,2", or one of words instead.
func (c *Console) ranksAfter(list string, words []string) ([]session.Candidate, string) {
	at := strings.LastIndexAny(list, "[,- ") + 1
	for r := range c.Size {
		words = append(words, strconv.Itoa(r))
	}
	return matching("rank", words, list[at:])
}

// shellWord is the word at the end of a shell line.
func shellWord(line string) string {
	return line[strings.LastIndexAny(line, " \t;|&<>=\"'")+1:]
}

// files completes the name of a file. Hidden ones need their dot to be typed.
func (c *Console) files(name string) ([]session.Candidate, string) {
	dir, base := filepath.Split(name)
	folder := c.path(cmp.Or(dir, "."))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, base
	}
	var names []string
	for _, e := range entries {
		n := e.Name()
		if strings.HasPrefix(n, ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		if info, err := os.Stat(filepath.Join(folder, n)); err == nil && info.IsDir() {
			n += "/"
		}
		names = append(names, n)
	}
	return matching("file", names, base)
}
