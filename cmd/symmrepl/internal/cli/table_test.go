package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tables have every subcommand and no others, and flags apply to those.
func TestTables(t *testing.T) {
	var described, there []string
	for _, f := range forms {
		if word, _, _ := strings.Cut(f.words, " "); word != "" && word != "-e" && !slices.Contains(described, word) {
			described = append(described, word)
		}
	}
	for _, sub := range subcommands() {
		there = append(there, sub.name)
	}
	if !slices.Equal(described, there) {
		t.Errorf("the table has %q, the program %q", described, there)
	}
	seen := map[string]bool{}
	for _, f := range new(options).flags() {
		for _, name := range strings.Fields(f.names) {
			if seen[name] {
				t.Errorf("the flag %s is there twice", name)
			}
			seen[name] = true
		}
		for _, of := range f.commands() {
			if first, _, _ := strings.Cut(of, " "); f.of != "" && of != "-e" && of != "the prompt" && !slices.Contains(there, first) {
				t.Errorf("%s applies to %q, which is no command", f.names, of)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	text := usage()
	for line := range strings.Lines(text) {
		if len(line) > usageWidth+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	for _, want := range []string{
		"\n    symmrepl                    a prompt\n",
		"\n    -n, --ranks N       ranks to start, 1 to 1024",
		"\n    --attach[=DIR]      kernel and serve only:",
		"\n    symm> t := symm.Empty(symm.F32, 4);",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// The manual page has the commands and flags, and man reads it without a warning.
func TestMan(t *testing.T) {
	text := Man()
	for _, want := range []string{".TH SYMMREPL 1", "\n.B symmrepl run FILE.go [ARG...]\n", "\n.B \\-n, \\-\\-ranks N\n", "\n.SH ENVIRONMENT\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("without groff the page is not formatted")
	}
	cmd := exec.Command(groff, "-man", "-Tascii", "-wall", "-z")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

func TestCompletionUnknown(t *testing.T) {
	for _, args := range [][]string{nil, {"tcsh"}, {"bash", "zsh"}} {
		if _, err := completion(t.Context(), options{}, args); err == nil {
			t.Errorf("completion %q is accepted", args)
		}
	}
}

// A shell completes what is typed so far.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.go", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line string   // its last word is completed
		want []string // some of what is offered
		not  []string
	}{
		{"symmrepl ", []string{"run", "kernel", "doctor", "completion"}, []string{"--ranks", "c.txt"}},
		{"symmrepl ru", []string{"run"}, []string{"kernel"}},
		{"symmrepl --d", []string{"--device", "--deadlock"}, []string{"--dtype", "run"}},
		{"symmrepl --device ", []string{"auto", "cpu", "cuda"}, []string{"run"}},
		{"symmrepl -n 4 --device c", []string{"cpu", "cuda"}, []string{"auto"}},
		{"symmrepl --net n", []string{"null", "none"}, []string{"ucx"}},
		{"symmrepl -n 4 run ", []string{"a b.go", "c.txt"}, []string{"run"}},
		{"symmrepl run c", []string{"c.txt"}, []string{"completion"}},
		{"symmrepl run --s", []string{"--sanitize", "--schedules", "--seed"}, []string{"--svg", "--sizes"}},
		{"symmrepl bench --s", []string{"--svg", "--sizes"}, []string{"--sanitize"}},
		{"symmrepl kernel ", []string{"install", "run"}, nil},
		{"symmrepl bench ", []string{"session", "net", "overlap"}, nil},
		{"symmrepl tutorial 0", []string{"01-hello-ranks"}, []string{"10-pools-and-graphs"}},
		{"symmrepl completion ", []string{"bash", "zsh", "fish"}, nil},
	} {
		for shell, offered := range map[string]func(*testing.T, string, string) []string{"bash": offeredByBash, "fish": offeredByFish} {
			if _, err := exec.LookPath(shell); err != nil {
				continue
			}
			got := offered(t, dir, c.line)
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%s: %q offers %q, without %s", shell, c.line, got, want)
				}
			}
			for _, not := range c.not {
				if slices.Contains(got, not) {
					t.Errorf("%s: %q offers %q, with %s", shell, c.line, got, not)
				}
			}
		}
	}
	if got := offeredByBash(t, dir, "symmrepl --device = c"); !slices.Equal(got, []string{"cpu", "cuda"}) {
		t.Errorf("--device=c offers %q", got) // bash takes it for three words
	}
}

// The scripts have no error that the shells see without running them.
func TestCompletionSyntax(t *testing.T) {
	for shell, script := range shells {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("there is no %s", shell)
			continue
		}
		cmd := exec.Command(path, "-n")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}

// asProgram makes this process of the test's the program.
const asProgram = "CLI_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program returns a folder with the program symmrepl, for scripts that ask it.
func program(t *testing.T) string {
	dir := t.TempDir()
	text := "#!/bin/sh\n" + asProgram + "=1 exec '" + os.Args[0] + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "symmrepl"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func offeredByBash(t *testing.T, dir, line string) []string {
	words := strings.Split(line, " ")
	script := shells["bash"] + "compopt() { :; }\nCOMP_WORDS=(" // which works during a completion only
	for _, w := range words {
		script += "'" + w + "' "
	}
	script += ") COMP_CWORD=" + string(rune('0'+len(words)-1)) + "\n_symmrepl\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
	return outputOf(t, dir, script, "bash", "--norc")
}

func offeredByFish(t *testing.T, dir, line string) []string {
	return outputOf(t, dir, shells["fish"]+"\ncomplete -C '"+line+"' | string split -f1 \\t; true\n", "fish", "--no-config")
}

func outputOf(t *testing.T, dir, script string, command ...string) []string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
	cmd.Env = append(os.Environ(), "PATH="+program(t)+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", command[0], err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}
