package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("wheel: ")
	program := flag.String("program", "", "the built program")
	emulator := flag.String("emulator", "", "the library of the emulator, which symmem/internal/cpu/emulib/make has built for the same machine")
	man := flag.String("man", "", "the manual page")
	completions := flag.String("completions", "", "a folder with the completions of shells: bash, zsh and fish")
	extra := flag.String("extra", "", "an extra of the package and what it requires: NAME=REQUIREMENT")
	zig := flag.String("zig", "", "the folder of the Python package ziglang, with which the program was built")
	out := flag.String("out", "", "the folder to write to")
	flag.Parse()
	if err := write(*program, *emulator, *man, *completions, *extra, *zig, *out); err != nil {
		log.Fatal(err)
	}
}

// limit is the maximum size of a wheel in bytes.
const limit = 40 << 20

func write(program, emulator, man, completions, extra, zig, out string) error {
	machine, err := check(program)
	if err != nil {
		return err
	}
	if other, err := check(emulator); err != nil {
		return err
	} else if other != machine {
		return fmt.Errorf("%s is for %s, and %s for %s", emulator, other, program, machine)
	}
	p, err := readProject("python/pyproject.toml")
	if err != nil {
		return err
	}
	if name, requirement, ok := strings.Cut(extra, "="); ok {
		p.Optional[name] = []string{requirement}
	}
	tag := "py3-none-manylinux_2_28_" + machine
	files, err := collect(p, tag, program, emulator, man, completions)
	if err != nil {
		return err
	}
	if err := files.addLicenses(p.info()+"/licenses", program, zig); err != nil {
		return err
	}
	text, err := files.pack(p.info())
	if err != nil {
		return err
	}
	path := filepath.Join(out, fmt.Sprintf("%s-%s-%s.whl", p.Name, p.Version, tag))
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MiB\n", path, float64(len(text))/(1<<20))
	if len(text) > limit {
		return fmt.Errorf("%s is larger than %d MiB", path, limit>>20)
	}
	return nil
}
