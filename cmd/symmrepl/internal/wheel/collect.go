package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/jupyter"
	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

// collect gathers the files of the wheel. The program searches the library of the emulator beside itself.
func collect(p project, tag, program, emulator, man, completions string) (files, error) {
	list := files{}
	if err := list.addFolder("symmrepl", "python/symmrepl"); err != nil {
		return nil, err
	}
	if err := list.addFile("symmrepl/bin/symmrepl", program); err != nil {
		return nil, err
	}
	notebooks, err := tutorial.Notebooks()
	if err != nil {
		return nil, err
	}
	for name, text := range notebooks {
		list.add("symmrepl/notebooks/"+name, text)
	}
	for name, from := range map[string]string{
		"symmrepl/bin/" + filepath.Base(emulator):                   emulator,
		"symmrepl/notebooks/display.ipynb":                          "notebooks/display.ipynb",
		p.info() + "/licenses/LICENSE":                              "LICENSE",
		p.data() + "/share/man/man1/symmrepl.1":                     man,
		p.data() + "/share/bash-completion/completions/symmrepl":    filepath.Join(completions, "bash"),
		p.data() + "/share/zsh/site-functions/_symmrepl":            filepath.Join(completions, "zsh"),
		p.data() + "/share/fish/vendor_completions.d/symmrepl.fish": filepath.Join(completions, "fish"),
	} {
		if err := list.addFile(name, from); err != nil {
			return nil, err
		}
	}
	if err := addKernel(list, p); err != nil {
		return nil, err
	}
	list.add(p.info()+"/METADATA", []byte(p.metadata()))
	list.add(p.info()+"/WHEEL", fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: symmrepl\nRoot-Is-Purelib: false\nTag: %s\n", tag))
	list.add(p.info()+"/entry_points.txt", []byte("[console_scripts]\nsymmrepl = symmrepl.__main__:main\n"))
	return list, nil
}

// addKernel adds the Jupyter kernel. Jupyter replaces {resource_dir} by the kernel's folder,
// share/jupyter/kernels/symmrepl in some environment. Thus the kernel runs the command in bin of that
// environment, even if JupyterLab runs in another environment.
func addKernel(list files, p project) error {
	folder, err := os.MkdirTemp("", "symmrepl-kernel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	spec := jupyter.Spec{Display: "symmrepl", Argv: []string{"{resource_dir}/../../../../bin/symmrepl", "kernel", "run"},
		Version: p.Version}
	if _, err := spec.Install(folder); err != nil {
		return err
	}
	return list.addFolder(p.data(), folder)
}

// files are the files of a wheel by name.
type files map[string]file

type file struct {
	text       []byte
	executable bool
}

func (list files) add(name string, text []byte) { list[name] = file{text: text} }

func (list files) addFile(name, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	list[name] = file{text, info.Mode()&0o100 != 0}
	return nil
}

// addFolder adds the files below a folder, except the files that Python writes.
func (list files) addFolder(name, from string) error {
	return filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "__pycache__":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		below, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		return list.addFile(path.Join(name, strings.ReplaceAll(below, string(filepath.Separator), "/")), p)
	})
}
