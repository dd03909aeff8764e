package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// project is the description of the package in pyproject.toml; see
// https://packaging.python.org/en/latest/specifications/pyproject-toml.
type project struct {
	Name         string
	Version      string
	Description  string
	Python       string `toml:"requires-python"`
	Dependencies []string
	Optional     map[string][]string `toml:"optional-dependencies"`
}

func readProject(path string) (project, error) {
	var file struct{ Project project }
	if _, err := toml.DecodeFile(path, &file); err != nil {
		return project{}, err
	}
	p := file.Project
	if p.Name == "" || p.Version == "" {
		return project{}, fmt.Errorf("%s: project has no name or no version", path)
	}
	if p.Optional == nil {
		p.Optional = map[string][]string{}
	}
	return p, nil
}

// info returns the folder of a wheel with its metadata for pip.
func (p project) info() string { return p.Name + "-" + p.Version + ".dist-info" }

// data returns the folder of a wheel whose contents go to the environment's own folders.
func (p project) data() string { return p.Name + "-" + p.Version + ".data/data" }

// metadata returns the file METADATA.
func (p project) metadata() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: %s\n",
		p.Name, p.Version, p.Description, p.Python)
	for _, d := range p.Dependencies {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", d)
	}
	for _, extra := range slices.Sorted(maps.Keys(p.Optional)) {
		fmt.Fprintf(&b, "Provides-Extra: %s\n", extra)
		for _, d := range p.Optional[extra] {
			requirement, marker, conditional := strings.Cut(d, ";")
			condition := fmt.Sprintf("extra == %q", extra)
			if conditional {
				condition = "(" + strings.TrimSpace(marker) + ") and " + condition
			}
			fmt.Fprintf(&b, "Requires-Dist: %s; %s\n", strings.TrimSpace(requirement), condition)
		}
	}
	return b.String()
}
