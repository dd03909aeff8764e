package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// completion runs symmrepl completion SHELL.
func completion(_ context.Context, _ options, args []string) (int, error) {
	if len(args) == 1 {
		if write, ok := shells[args[0]]; ok {
			fmt.Fprint(stdout, write(completed()))
			return statusOK, nil
		}
	}
	return 0, misused("completion needs the name of a shell: bash, zsh or fish")
}

// shells are the functions that write a completion script, by the name of the shell.
var shells = map[string]func([]completedCommand) string{"bash": bash, "zsh": zsh, "fish": fish}

// completedCommand lists the words that may follow a command, or the program's name if the command is
// "".
type completedCommand struct {
	name, about string
	words       []string // that may follow; the next argument is a file if there is none
	flags       []flagRow
}

// completed lists the commands, the one without a name first.
func completed() []completedCommand {
	list := []completedCommand{{}}
	for _, sub := range subcommands() {
		list = append(list, completedCommand{name: sub.name})
		list[0].words = append(list[0].words, sub.name)
	}
	for i := range list {
		c := &list[i]
		for _, f := range forms {
			first, rest, _ := strings.Cut(f.words, " ")
			if first != c.name || c.name == "" {
				continue
			}
			if c.about == "" {
				c.about = brief(f.text)
			}
			for _, word := range strings.Split(strings.Fields(rest + " .")[0], "|") {
				if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == "" {
					c.words = append(c.words, word)
				}
			}
		}
		if c.name == "tutorial" {
			c.words = tutorialNames()
		}
		for _, f := range new(options).flags() {
			if applies(f, c.name) {
				c.flags = append(c.flags, f)
			}
		}
	}
	return list
}

func tutorialNames() (names []string) {
	lessons, err := tutorial.All()
	if err != nil {
		return nil // its own command says why
	}
	for _, l := range lessons {
		names = append(names, l.Name)
	}
	return names
}

// applies reports whether a flag may be given to a command, which has one of its forms.
func applies(f flagRow, command string) bool {
	return f.of == "" || slices.ContainsFunc(f.commands(), func(of string) bool {
		first, _, _ := strings.Cut(of, " ")
		return first == command || command == "" && (of == "-e" || of == "the prompt")
	})
}

// brief returns the beginning of a text.
func brief(text string) string {
	end := len(text)
	for _, mark := range []string{"; ", ". ", ", ", " ("} {
		if i := strings.Index(text, mark); i > 0 {
			end = min(end, i)
		}
	}
	return text[:end]
}

// spellings returns the flags of a command as they are typed.
func (c completedCommand) spellings() (list []string) {
	for _, f := range c.flags {
		list = append(list, f.dashed()...)
	}
	return list
}

// valued lists all flags whose value is a word of its own.
func valued() (list []string) {
	for _, f := range new(options).flags() {
		if f.value != "" && !f.optional {
			list = append(list, f.dashed()...)
		}
	}
	return list
}

// quoted writes a word for bash and zsh.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func bash(commands []completedCommand) string {
	var b strings.Builder
	b.WriteString(`# Completion of symmrepl in bash. To have it: source <(symmrepl completion bash)
_symmrepl() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= after= i
    COMPREPLY=()
    # the words of --flag=value are three
    if [[ $cur == = ]]; then cur=; elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
`)
	fmt.Fprintf(&b, "        %s) if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); else ((i++)); fi ;;\n", strings.Join(valued(), "|"))
	b.WriteString(`        -* | =) ;;
        *) if [[ $command ]]; then after+=1; else command=${COMP_WORDS[i]}; fi ;;
        esac
    done
    case $prev in
`)
	for _, f := range new(options).flags() {
		if f.value == "" || f.optional {
			continue
		}
		then := ""
		switch {
		case f.takes.words != nil:
			then = "mapfile -t COMPREPLY < <(compgen -W " + quoted(strings.Join(f.takes.words(), " ")) + ` -- "$cur")`
		case f.takes.files:
			then = `compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")`
		case f.takes.folders:
			then = `compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur")`
		}
		fmt.Fprintf(&b, "    %s) %s; return ;;\n", strings.Join(f.dashed(), "|"), cmp.Or(then, ":"))
	}
	b.WriteString("    esac\n    local words= flags=\n    case $command in\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "    %s) flags=%s words=%s ;;\n", quoted(c.name), quoted(strings.Join(c.spellings(), " ")),
			quoted(strings.Join(c.words, " ")))
	}
	b.WriteString(`    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur")
    elif [[ $words && ! $after ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _symmrepl symmrepl
`)
	return b.String()
}

func zsh(commands []completedCommand) string {
	var b strings.Builder
	b.WriteString(`#compdef symmrepl
# Completion of symmrepl in zsh. To have it: source <(symmrepl completion zsh), after compinit
_symmrepl() {
  local command= after= i word previous=${words[CURRENT-1]}
  local -a flags offered
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    case $word in
`)
	fmt.Fprintf(&b, "      %s) ((i++)) ;;\n", strings.Join(valued(), "|"))
	b.WriteString(`      -*) ;;
      *) if [[ -n $command ]]; then after=1; else command=$word; fi ;;
    esac
  done
  if [[ $PREFIX == --*=* ]]; then
    previous=${PREFIX%%=*}
    compset -P '*='
  fi
  case $previous in
`)
	for _, f := range new(options).flags() {
		if f.value == "" {
			continue
		}
		then := "_message " + quoted(f.value)
		switch {
		case f.takes.words != nil:
			then = "compadd -- " + strings.Join(f.takes.words(), " ")
		case f.takes.files:
			then = "_files"
		case f.takes.folders:
			then = "_files -/"
		}
		if f.optional { // its value is never the next word
			continue
		}
		fmt.Fprintf(&b, "    %s) %s; return ;;\n", strings.Join(f.dashed(), "|"), then)
	}
	b.WriteString("  esac\n  case $command in\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "    %s)\n      flags=(", quoted(c.name))
		for _, f := range c.flags {
			for _, name := range f.dashed() {
				b.WriteString(" " + quoted(name+":"+brief(f.text)))
			}
		}
		b.WriteString(")\n      offered=(")
		for _, word := range c.words {
			about := ""
			if c.name == "" {
				i := slices.IndexFunc(commands, func(other completedCommand) bool { return other.name == word })
				about = ":" + commands[i].about
			}
			b.WriteString(" " + quoted(word+about))
		}
		b.WriteString(") ;;\n")
	}
	b.WriteString(`  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o flag flags
  elif [[ -z $after ]] && (( $#offered )); then
    _describe word offered
  else
    _files
  fi
}
if [[ $funcstack[1] == _symmrepl ]]; then _symmrepl; else compdef _symmrepl symmrepl; fi
`)
	return b.String()
}

func fish(commands []completedCommand) string {
	var b strings.Builder
	write := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	b.WriteString("# Completion of symmrepl in fish. To have it: symmrepl completion fish | source\ncomplete -c symmrepl -e\n")
	for _, c := range commands[1:] {
		fmt.Fprintf(&b, "complete -c symmrepl -n __fish_use_subcommand -f -a %s -d %s\n", c.name, write(c.about))
		for _, word := range c.words {
			fmt.Fprintf(&b, "complete -c symmrepl -n '__fish_seen_subcommand_from %s' -f -a %s\n", c.name, word)
		}
	}
	for _, f := range new(options).flags() {
		line := "complete -c symmrepl"
		if f.of != "" {
			var of []string
			for _, c := range commands[1:] {
				if applies(f, c.name) {
					of = append(of, c.name)
				}
			}
			condition := "__fish_seen_subcommand_from " + strings.Join(of, " ")
			if applies(f, "") {
				condition = "__fish_use_subcommand; or " + condition
			}
			line += " -n " + write(condition)
		}
		for _, name := range strings.Fields(f.names) {
			if len(name) == 1 {
				line += " -s " + name
			} else {
				line += " -l " + name
			}
		}
		switch {
		case f.takes.words != nil:
			line += " -x -a " + write(strings.Join(f.takes.words(), " "))
		case f.takes.files, f.takes.folders && !f.optional:
			line += " -r"
		case f.value != "" && !f.optional:
			line += " -x"
		}
		b.WriteString(line + " -d " + write(brief(f.text)) + "\n")
	}
	return b.String()
}
