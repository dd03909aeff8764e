package command

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// examples has sessions that show the output of commands, each below a heading with the command's
// name. A test replays them.
//
//go:embed examples.md
var examples string

// Page returns docs/commands.md.
func Page() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the table of commands by `go generate ./cmd/symmrepl/internal/console/command`. -->\n\n")
	all := &console.Console{Commands: All(Programs{})}
	b.WriteString(index(all.Commands) + "\n" + entriesMarkdown() + "\n")
	group := ""
	for _, cmd := range all.Commands {
		if cmd.Group != group {
			group = cmd.Group
			b.WriteString("\n## " + capital(group) + "\n")
		}
		summary, more, _ := strings.Cut(cmd.Help, "\n")
		b.WriteString("\n### `" + cmd.Usage() + "`\n\n" + capital(summary) + ".")
		if more != "" {
			b.WriteString("\n" + more)
		}
		b.WriteString("\n\nRuns on: " + string(cmd.Where) + ".")
		if short := all.Shortest(cmd); short != cmd.Name {
			b.WriteString(" Short form: `:" + short + "`.")
		}
		b.WriteString("\n" + example(cmd.Name))
	}
	return b.String()
}

// index is a table of the commands by group, with links to their parts of the page.
func index(commands []console.Command) string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	group := ""
	for i, cmd := range commands {
		if cmd.Group != group {
			group = cmd.Group
			fmt.Fprintf(&b, "| %s |", capital(group))
		}
		fmt.Fprintf(&b, " [:%s](#%s)", cmd.Name, anchor(cmd.Usage()))
		if i+1 == len(commands) || commands[i+1].Group != group {
			b.WriteString(" |\n")
		}
	}
	return b.String()
}

// anchor returns the part of a link that leads to a heading, as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, heading)
}

// example returns the command's example, "" if it has none.
func example(name string) string {
	_, text, ok := strings.Cut(examples, "\n### :"+name+"\n")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n### ")
	if _, code, comment := strings.Cut(text, "-->\n"); comment {
		text = code
	}
	return "\n" + strings.TrimSpace(text) + "\n"
}

// entriesMarkdown is entries with its examples as a code block.
func entriesMarkdown() string {
	text, examples, _ := strings.Cut(entries, "\n\n")
	return text + "\n\n```\n" + examples + "\n```"
}
