package symmrepl

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notOnEnvironmentPage lists the names that look like environment variables in the sources, or are
// internal ones, with the reason why docs/environment.md does not have them.
var notOnEnvironmentPage = map[string]string{
	"SYMMREPL_WORKER":      "the session sets it for its workers",
	"SYMMREPL_OF_WORKER":   "the session marks the processes that a worker has started",
	"SYMMREPL_INBAND":      "the session sets it for processes whose displays it reads",
	"SYMMREPL_SIMULATION":  "set for a test's second process",
	"SYMMREPL_NETTEST":     "a package for tests starts its processes by it",
	"SYMMREPL_NOT_UNIFIED": "the name of an error",
	"JPY_PARENT_PID":       "Jupyter sets it for kernels",

	"SYMMREPL_TEST_PROGRAM": "set for the test binary that runs as the program",
	"SYMMREPL_TEST_PEER":    "set for a test's second process", "SYMMREPL_TEST_FROZEN": "set for a test's second process",
	"SYMMREPL_TEST_FEW_DESCRIPTORS": "set for a test's second process", "SYMMTEST_SEGMENT": "set for a test's second process",
	"SYMMTEST_GPU": "set for a test's second process", "SYMMTEST_STARTS": "set for a test's second process",
	"SYMMTEST_PE": "set for a test's second process", "SYMMTEST_CUBIN_RACER": "set for a test's second process",
	"SYMMTEST_CUDA_CHILD": "set for a test's second process",

	"SYMM_CPU": "a macro of kernels", "SYMM_EACH": "a macro of kernels", "SYMM_SHARE": "a macro of kernels",
	"SYMM_BOUNDS": "a macro of kernels", "SYMM_SANITIZE": "a macro of kernels",
	"SYMM_SHMEM_LINE": "a macro of kernels",
}

var (
	// ownVariable matches a text that is the name of a variable of this project or of another.
	ownVariable = regexp.MustCompile(`"((?:SYMMREPL|SYMMTEST|SYMM|TORCH|TORCHELASTIC|OMPI|SLURM|MPI|PMI|PMIX|MASTER|WORLD|LOCAL|XDG)_[A-Z0-9_]*[A-Z0-9])"`)
	// readVariable matches a call that reads a variable, and a constant with the name of one.
	readVariable = regexp.MustCompile(`(?:[gG]etenv\(|LookupEnv\(|environ\.get\(|environ\.setdefault\(|environ\[|\be\[|[vV]ariable\s*=\s*)"([A-Z][A-Z0-9_]*)"`)
	// testVariable matches the name of a variable of a test, except those of the suite's own processes.
	testVariable = regexp.MustCompile(`"(SYMM(?:REPL_|TEST_(?:[ABD-Z]|CUB|CUDA))[A-Z_]*[A-Z])"`)
	// pageVariable matches the name of a variable in docs/environment.md.
	pageVariable = regexp.MustCompile("`([A-Z][A-Z0-9_]*)`")
)

// variableForms returns the forms of names of variables in a file of what users run, which are the
// program, the packages, what exported programs have, and the Python package, or in one of its tests.
func variableForms(file string) []*regexp.Regexp {
	top, _, _ := strings.Cut(file, "/")
	switch {
	case strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "python/tests/"):
		return []*regexp.Regexp{testVariable}
	case slices.Contains([]string{"cmd", "client", "internal", "interp", "session", "symmem", "python"}, top) &&
		slices.Contains([]string{".go", ".c", ".h", ".cpp", ".hpp", ".cuh", ".py"}, path.Ext(file)) && !strings.Contains(file, "testdata/"):
		return []*regexp.Regexp{ownVariable, readVariable}
	}
	return nil
}

// TestEnvironment checks that docs/environment.md names the environment variables that the sources
// read, and no others.
func TestEnvironment(t *testing.T) {
	read := map[string]string{} // the file that reads a variable
	var all strings.Builder     // the texts of all files
	for _, file := range tree(t) {
		forms := variableForms(file)
		if forms == nil || file == "environment_test.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			for _, m := range form.FindAllSubmatch(text, -1) {
				read[string(m[1])] = file
			}
		}
		all.Write(text)
	}
	page, err := os.ReadFile("docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "|") {
			for _, m := range pageVariable.FindAllStringSubmatch(line, -1) {
				named[m[1]] = true
			}
		}
	}
	for name, file := range read {
		if reason := notOnEnvironmentPage[name]; !named[name] && reason == "" {
			t.Errorf("%s reads %s, which docs/environment.md does not have", file, name)
		} else if named[name] && reason != "" {
			t.Errorf("docs/environment.md has %s, and notOnEnvironmentPage gives a reason why not: %s", name, reason)
		}
	}
	for name := range named {
		if !strings.Contains(all.String(), `"`+name) { // some are read by way of a list
			t.Errorf("docs/environment.md has %s, which nothing reads", name)
		}
	}
	for name := range notOnEnvironmentPage {
		if read[name] == "" {
			t.Errorf("notOnEnvironmentPage has %s, which is nowhere", name)
		}
	}
}
