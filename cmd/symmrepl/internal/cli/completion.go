package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// completion runs symmrepl completion SHELL, and --words for the scripts of the shells.
func completion(_ context.Context, o options, args []string) (int, error) {
	if o.words {
		fmt.Fprint(stdout, offers(args))
		return statusOK, nil
	}
	if len(args) == 1 && shells[args[0]] != "" {
		fmt.Fprint(stdout, shells[args[0]])
		return statusOK, nil
	}
	return 0, misused("completion needs the name of a shell: bash, zsh or fish")
}

// shells are the completion scripts, by the name of the shell. Each gives the words up to the cursor to
// symmrepl completion --words, and reads its answer: see offers.
var shells = map[string]string{
	"bash": `# Completion of symmrepl in bash. To have it: source <(symmrepl completion bash)
_symmrepl() {
    local cur=${COMP_WORDS[COMP_CWORD]}
    if [[ $cur == = ]]; then cur=; fi
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]/#~/$HOME}" completion --words -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null | cut -f1)
    case ${COMPREPLY[0]} in
    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *) COMPREPLY=("${COMPREPLY[@]:1}"); COMPREPLY=("${COMPREPLY[@]#--*=}") ;;
    esac
}
complete -F _symmrepl symmrepl
`,
	"zsh": `#compdef symmrepl
# Completion of symmrepl in zsh. To have it: source <(symmrepl completion zsh), after compinit
_symmrepl() {
  local -a offered
  offered=(${(f)"$(${~words[1]} completion --words -- "${(@)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  case $offered[1] in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
    value*) _message "${offered[1]#value }" ;;
    *) offered=("${(@)offered[2,-1]/$'\t'/:}"); _describe word offered ;;
  esac
}
if [[ $funcstack[1] == _symmrepl ]]; then _symmrepl; else compdef _symmrepl symmrepl; fi
`,
	"fish": `# Completion of symmrepl in fish. To have it: symmrepl completion fish | source
function __symmrepl
    set -l words (commandline -opc) (commandline -ct)
    set -l flag (string match -r '^--[^=]*=' -- $words[-1])
    set -l offered ($words[1] completion --words -- $words 2>/dev/null)
    switch $offered[1]
        case files
            __fish_complete_path (string replace -- "$flag" '' $words[-1]) | string replace -r '^' -- "$flag"
        case folders
            __fish_complete_directories (string replace -- "$flag" '' $words[-1]) | string replace -r '^' -- "$flag"
        case '*'
            printf '%s\n' $offered | tail -n +2
    end
end
complete -c symmrepl -e
complete -c symmrepl -f -a '(__symmrepl)'
`,
}

// offers returns the words with which a command line may end: a line "files", "folders", "value NAME"
// or "words", and after the last a line for each word, with its description, if it has one, behind a tab.
func offers(line []string) string {
	// Bash makes three words of --flag=value.
	line = strings.Split(strings.TrimSuffix(strings.ReplaceAll(strings.Join(line, "\x00")+"\x00", "\x00=\x00", "="), "\x00"), "\x00")
	flags, command, words := new(options).flags(), "", 0
	find := func(name string) int {
		return slices.IndexFunc(flags, func(f flagRow) bool { return f.value != "" && slices.Contains(f.dashed(), name) })
	}
	last := len(line) - 1
	name, _, joined := strings.Cut(line[last], "=")
	valued, prefix := -1, "" // the flag whose value the last word is
	if joined {
		valued, prefix = find(name), name+"="
	}
	for i := 1; i < last; i++ {
		if f := find(line[i]); f >= 0 && !flags[f].optional {
			if i++; i == last {
				valued, prefix = f, ""
			}
		} else if !strings.HasPrefix(line[i], "-") {
			if words++; words == 1 {
				command = line[i]
			}
		}
	}
	text := ""
	offer := func(word, about string) {
		if strings.HasPrefix(word, line[last]) {
			text += strings.TrimRight("\n"+word+"\t"+about, "\t")
		}
	}
	switch {
	case valued >= 0:
		switch f := flags[valued]; {
		case f.takes.files:
			return "files\n"
		case f.takes.folders:
			return "folders\n"
		case f.takes.words == nil:
			return "value " + f.value + "\n"
		default:
			for _, word := range f.takes.words() {
				offer(prefix+word, "")
			}
		}
	case strings.HasPrefix(line[last], "-"):
		for _, f := range flags {
			for _, name := range f.dashed() {
				if applies(f, command) {
					offer(name, brief(f.text))
				}
			}
		}
	default:
		following := wordsAfter(command)
		if words > 1 || len(following) == 0 {
			return "files\n"
		}
		for _, w := range following {
			offer(w.name, w.about)
		}
	}
	return "words" + text + "\n"
}

// word is a word that may follow, and its description.
type word struct{ name, about string }

// wordsAfter lists the words that may follow a command, or the program's name if the command is "". The
// next argument is a file if there is none.
func wordsAfter(command string) (list []word) {
	if command == "tutorial" {
		lessons, _ := tutorial.All() // its own command reports an error
		for _, l := range lessons {
			list = append(list, word{l.Name, ""})
		}
		return list
	}
	for _, f := range forms {
		first, rest, _ := strings.Cut(f.words, " ")
		if command == "" {
			rest = first
			if slices.ContainsFunc(list, func(w word) bool { return w.name == first }) {
				continue
			}
		} else if first != command {
			continue
		}
		for _, name := range strings.Split(strings.Fields(rest + " .")[0], "|") {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == "" {
				list = append(list, word{name, brief(f.text)})
			}
		}
	}
	return list
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
