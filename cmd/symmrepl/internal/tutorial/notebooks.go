package tutorial

import (
	"fmt"

	"github.com/symmrepl/symmrepl"
)

// Contents is the name of the notebook that lists the others.
const Contents = "contents.ipynb"

// Notebooks returns the notebooks of all tutorials and of their contents by file name, with their
// output on four ranks.
func Notebooks() (map[string][]byte, error) {
	lessons, err := All()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if files[Contents], err = contents(lessons); err != nil {
		return nil, err
	}
	for _, l := range lessons {
		text, err := symmrepl.Tutorials.ReadFile("tutorials/" + l.Name + ".out")
		if err != nil {
			return nil, err
		}
		r, err := ParseRecording(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s.out: %w", l.Name, err)
		}
		if files[l.Name+".ipynb"], err = l.Notebook(r); err != nil {
			return nil, err
		}
	}
	return files, nil
}
