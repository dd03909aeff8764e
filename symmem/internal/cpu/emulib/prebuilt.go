package emulib

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels"
	"github.com/symmrepl/symmrepl/symmem/internal/kernelcache"
)

// prefix returns the beginning of the name of a library that was built of these files for a machine: it
// says what the library was built of, and the rest of the name what is in it.
func prefix(arch string, files []kernels.File) string {
	fields := slices.Concat([]string{"prebuilt"}, Flags, ZigFlags(arch), []string{"sources"})
	for _, f := range files {
		fields = append(fields, f.Name, f.Text)
	}
	return "emulator-" + kernelcache.Key(fields...)[:32] + "-"
}

// Prebuilt returns the path of a library in a folder that was built of these files, or "" if there is
// none. A library of other files, one for another machine, and one that was changed or cut short are
// none.
func Prebuilt(folder string, files []kernels.File) string {
	begin := prefix(runtime.GOARCH, files)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begin) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if content, err := os.ReadFile(path); err == nil && e.Name() == begin+rest(content) {
			return path
		}
	}
	return ""
}

// rest returns the end of the name of a library with a content.
func rest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16]) + ".so"
}

// Prebuild builds the library of these files in a folder by the program zig and returns its path.
// arch is Go's name of the machine. Older libraries in the folder are removed. The same files give the
// same bytes.
func Prebuild(zig, arch, folder string, files []kernels.File) (path string, err error) {
	work, err := os.MkdirTemp("", "symmrepl-emulator-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for _, f := range files {
		name := filepath.Join(work, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(name, []byte(f.Text), 0o600); err != nil {
			return "", err
		}
	}
	out := filepath.Join(work, "emulator.so")
	arguments, unit := Unit(files, work, out)
	// Without symbols for debuggers, which name the folder and take most of the room.
	command := exec.Command(zig, slices.Concat([]string{"c++"}, Flags, ZigFlags(arch), []string{"-g0", "-Wl,-s"}, arguments)...)
	command.Stdin, command.Stderr = strings.NewReader(unit), os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s c++: %w", zig, err)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	older, err := filepath.Glob(filepath.Join(folder, "emulator-*.so"))
	if err != nil {
		return "", err
	}
	for _, o := range older {
		if err := os.Remove(o); err != nil {
			return "", err
		}
	}
	path = filepath.Join(folder, prefix(arch, files)+rest(content))
	return path, os.WriteFile(path, content, 0o644)
}
