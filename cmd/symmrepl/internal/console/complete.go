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

const (
	// How long the user waits for candidates. A rank needs a few milliseconds, on a machine with much other
	// load up to half a second, and a rank that is stopped never answers.
	completeWithin = 2 * time.Second
	// The same inside of a kernel's text. Its first candidates need the reference of kernels to be read.
	completeKernelWithin = 5 * time.Second
)

// Complete returns the sorted candidates for word, the end of the entry at the cursor. Candidates
// begin with word, or with word in other case if none does.
func (c *Console) Complete(ctx context.Context, entry string) (candidates []session.Candidate, word string) {
	line := strings.TrimLeft(entry, space)
	switch {
	case strings.HasPrefix(line, "$"):
		return c.CompleteFile(shellWord(line[1:]))
	case isCommand(line):
		return c.completeCommand(ctx, line)
	case strings.HasPrefix(line, magic) && !strings.Contains(line, "\n"):
		if list, ok := strings.CutPrefix(line, magic+"rank ["); ok {
			return c.CompleteRanks(list)
		}
		return matching("command", c.magics(), line[len(magic):])
	}
	source, _ := c.code(entry)
	return c.CompleteGo(ctx, source)
}

// completeCommand completes the name of a command, or its argument as its row says.
func (c *Console) completeCommand(ctx context.Context, line string) (candidates []session.Candidate, word string) {
	name, arg, hasArg := splitCommand(line)
	if !hasArg {
		return c.CompleteCommand(name)
	}
	cmd, _ := c.Find(name)
	if source, ok := cmd.Code(arg); ok {
		return c.CompleteGo(ctx, source)
	}
	if cmd.Complete == nil {
		return nil, lastWord(line)
	}
	return cmd.Complete(ctx, c, arg)
}

// CompleteGo completes the Go at the end of source. It asks the first of the target ranks.
func (c *Console) CompleteGo(ctx context.Context, source string) (candidates []session.Candidate, word string) {
	within := completeWithin
	if _, _, inKernel := rawStringAt(source, len(source)); inKernel {
		within = completeKernelWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answers, err := c.Session.Inspect(ctx, c.firstTarget(), session.Query{Topic: session.TopicComplete, Arg: source})
	if err != nil || len(answers) == 0 || answers[0].Err != nil {
		return nil, lastWord(source)
	}
	candidates, word = answers[0].Candidates, lastWord(source)
	switch {
	case len(candidates) == 0:
	case candidates[0].Kind == session.KindHeader:
		word = source[strings.LastIndexAny(source, "\"<")+1:]
	case strings.Contains(candidates[0].Name, "/"): // an import path
		word = source[strings.LastIndexAny(source, "\"`")+1:]
	}
	return candidates, word
}

// CompleteCommand completes the name of a command.
func (c *Console) CompleteCommand(name string) (candidates []session.Candidate, word string) {
	return matching("command", c.CommandNames(), name)
}

// CompleteRanks completes a list of ranks such as "0,2", or one of words.
func (c *Console) CompleteRanks(list string, words ...string) (candidates []session.Candidate, word string) {
	at := strings.LastIndexAny(list, "[,- ") + 1
	for r := range c.Size {
		words = append(words, strconv.Itoa(r))
	}
	return matching("rank", words, list[at:])
}

// CompleteFile completes the name of a file. Names of folders end with a slash. Hidden files are
// candidates only if their dot was typed.
func (c *Console) CompleteFile(name string) (candidates []session.Candidate, word string) {
	dir, base := filepath.Split(name)
	folder := c.Path(cmp.Or(dir, "."))
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

// matching returns the sorted texts that begin with word.
func matching(kind string, texts []string, word string) ([]session.Candidate, string) {
	var candidates []session.Candidate
	for _, text := range slices.Sorted(slices.Values(texts)) {
		if strings.HasPrefix(text, word) {
			candidates = append(candidates, session.Candidate{Name: text, Kind: kind})
		}
	}
	return candidates, word
}

// shellWord is the word at the end of a shell line.
func shellWord(line string) string {
	return line[strings.LastIndexAny(line, " \t;|&<>=\"'")+1:]
}
