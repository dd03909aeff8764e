package command

import (
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/console"
)

// Page returns docs/commands.md.
func Page() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the table of commands by `go generate ./cmd/symmrepl/internal/console/command`. -->\n\n")
	b.WriteString(entriesMarkdown() + "\n")
	group := ""
	all := &console.Console{Commands: All(Programs{})}
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
		b.WriteString("\n")
	}
	return b.String()
}

// entriesMarkdown is entries with its examples as a code block.
func entriesMarkdown() string {
	text, examples, _ := strings.Cut(entries, "\n\n")
	return text + "\n\n```\n" + examples + "\n```"
}
