package libs

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sitePackages lists the package folders of the Python environments at hand: the active one, a
// .venv in the working directory, the interpreters on PATH, and the user's own.
func (h Host) sitePackages() []string {
	prefixes := []string{h.Getenv("VIRTUAL_ENV"), h.Getenv("CONDA_PREFIX"), filepath.Join(h.Folder, ".venv")}
	for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
		for _, name := range []string{"python3", "python"} {
			program := filepath.Join(dir, name)
			if !isFile(program) {
				continue
			}
			prefixes = append(prefixes, filepath.Dir(dir))
			if real, err := filepath.EvalSymlinks(program); err == nil {
				prefixes = append(prefixes, filepath.Dir(filepath.Dir(real)))
			}
		}
	}
	if home := h.Getenv("HOME"); home != "" {
		prefixes = append(prefixes, filepath.Join(home, ".local"))
	}
	var dirs []string
	for _, prefix := range prefixes {
		if prefix == "" {
			continue
		}
		for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages",
			"local/lib/python3*/dist-packages"} {
			found, _ := filepath.Glob(filepath.Join(escape(prefix), pattern)) // the pattern is well formed
			for _, dir := range found {
				if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(dirs, real) {
					dirs = append(dirs, real)
				}
			}
		}
	}
	return dirs
}

// wheels finds a library in Python's wheels, the highest version first.
func wheels(packages []string, soname string, k Kind) []Library {
	var found []Library
	for _, dir := range packages {
		files, _ := filepath.Glob(filepath.Join(escape(dir), k.Folder, soname))
		for _, file := range files {
			n := len(found)
			found = add(found, file, "python")
			if len(found) > n && found[n].Version == "" {
				found[n].Version = wheelVersion(dir, k.Wheel, soname)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Library) int { return compareVersions(b.Version, a.Version) })
	return found
}

// wheelVersion reads a version from the wheel's dist-info folder. A wheel for CUDA 12 is called
// name_cu12 and contains the library with that major version in its soname; the soname of libraries
// with another numbering has version 0.
func wheelVersion(packages, wheel, soname string) string {
	entries, err := os.ReadDir(packages)
	if err != nil {
		return ""
	}
	_, major, _ := strings.Cut(soname, ".so.")
	best := ""
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".dist-info")
		if !ok || !strings.HasPrefix(name, wheel) {
			continue
		}
		i := strings.LastIndexByte(name, '-')
		if i < 0 {
			continue
		}
		tail, version := name[len(wheel):i], name[i+1:]
		if tail != "" && !strings.HasPrefix(tail, "_cu") {
			continue // another wheel whose name has the same beginning
		}
		if major != "0" && !strings.HasPrefix(version, major+".") {
			continue
		}
		if compareVersions(version, best) > 0 {
			best = version
		}
	}
	return best
}

// compareVersions orders dotted numbers; parts that are not numbers count as zero.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(part(x, i), part(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

func part(v []string, i int) int {
	if i >= len(v) {
		return 0
	}
	n, err := strconv.Atoi(v[i])
	if err != nil {
		return 0
	}
	return n
}

// escape makes a path literal in a glob pattern.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
