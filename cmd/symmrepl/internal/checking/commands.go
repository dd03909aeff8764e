package checking

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/kerneltext"
	"github.com/symmrepl/symmrepl/internal/wholefile"
)

// Commands are the options of compilers by file, from a build's compile_commands.json.
type Commands map[string]kerneltext.Options

// maxCommands bounds compile_commands.json, in bytes.
const maxCommands = 256 << 20

// ReadCommands reads compile_commands.json in the folder of a build.
func ReadCommands(folder string) (Commands, error) {
	name := filepath.Join(folder, "compile_commands.json")
	text, err := wholefile.Read(name, "the commands of a build", maxCommands)
	if err != nil {
		return nil, err
	}
	var entries []struct {
		Directory, File, Command string
		Arguments                []string
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	c := Commands{}
	for _, e := range entries {
		args := e.Arguments
		if args == nil {
			args = shellWords(e.Command)
		}
		c[within(e.Directory, e.File)] = optionsOf(e.Directory, args)
	}
	return c, nil
}

// Of returns the options for a file: those of its command, behind the given ones.
func (c Commands) Of(name string, given kerneltext.Options) kerneltext.Options {
	path, err := filepath.Abs(name)
	if err != nil {
		return given
	}
	own := c[path]
	return kerneltext.Options{Folders: append(append([]string{}, given.Folders...), own.Folders...),
		Defines: append(append([]string{}, own.Defines...), given.Defines...)}
}

// optionsOf returns the folders of headers and the macros of a command.
func optionsOf(directory string, args []string) (o kerneltext.Options) {
	for i := 0; i < len(args); i++ {
		for _, flag := range []string{"-isystem", "-I", "-D"} {
			value, ok := strings.CutPrefix(args[i], flag)
			if !ok {
				continue
			}
			if value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			if flag == "-D" {
				o.Defines = append(o.Defines, value)
			} else {
				o.Folders = append(o.Folders, within(directory, strings.TrimPrefix(value, "=")))
			}
			break
		}
	}
	return o
}

// within returns the path of a file that is named in a folder.
func within(directory, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(directory, name)
}

// shellWords splits a command line as a shell does, without expansions.
func shellWords(line string) (words []string) {
	var word strings.Builder
	var quote byte
	begun := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			begun = true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '"' || c == '\'':
			quote, begun = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
