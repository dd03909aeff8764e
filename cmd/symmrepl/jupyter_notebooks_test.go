package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/cmd/symmrepl/internal/tutorial"
)

var everyTutorial = flag.Bool("tutorials", false, "run every tutorial in every way, not only every eighth: on two ranks, on two hosts, as a notebook, solved in a notebook, exported")

// someOf returns every eighth element of a list of tutorials or their notebooks, or with -tutorials all.
// TestLessons runs all tutorials, on four ranks. A test that runs them in another way takes some, because
// each takes seconds.
func someOf[T any](list []T) (some []T) {
	for i, one := range list {
		if *everyTutorial || i%8 == 1 {
			some = append(some, one)
		}
	}
	return some
}

// When Jupyter's nbclient executes a notebook on four ranks, it shows the outputs stored in its
// file. On two ranks it shows the outputs recorded for its tutorial, also when all cells run a second
// time, with or without a restart of the kernel.
func TestNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("short: executes notebooks")
	}
	t.Parallel()
	files, err := filepath.Glob("../../notebooks/[0-9][0-9]-*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("notebooks: %v, %v", files, err)
	}
	if device() != "cpu" {
		files = slices.DeleteFunc(files, func(file string) bool { return strings.Contains(file, aboutSanitizer) })
	}
	files = someOf(files)
	for _, c := range []struct {
		name  string
		ranks int
		runs  []string
		files []string
	}{
		{"4 ranks", 4, []string{"first"}, files},
		{"2 ranks", 2, []string{"first", "again", "restarted"}, files},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			executed := jupyter(t).executeNotebooks(c.ranks, strings.Join(c.runs, ","), c.files)
			for _, file := range c.files {
				lesson, err := tutorial.Find(strings.TrimSuffix(filepath.Base(file), ".ipynb"))
				if err != nil {
					t.Fatal(err)
				}
				want := storedNotebook(t, file, lesson, c.ranks)
				for _, run := range c.runs {
					t.Run(lesson.Name+"/"+run, func(t *testing.T) {
						before := 0
						if run == "again" {
							before = len(lesson.Runs())
						}
						compareNotebooks(t, c.ranks, lesson, before, notebookOf(t, executed[[2]string{file, run}]), want)
					})
				}
			}
		})
	}
}

// executedNotebook has those fields of an nbformat file that describe code cells and their outputs.
type executedNotebook struct {
	Cells []struct {
		Type     string `json:"cell_type"`
		Metadata struct {
			Execution struct { // times that nbclient notes
				Began time.Time `json:"iopub.status.busy"`
				Ended time.Time `json:"iopub.status.idle"`
			} `json:"execution"`
		} `json:"metadata"`
		Outputs []struct {
			Type      string         `json:"output_type"`
			Name      string         `json:"name"`
			Text      multiline      `json:"text"`
			Data      map[string]any `json:"data"`
			Count     int            `json:"execution_count"`
			Error     string         `json:"ename"`
			Traceback []string       `json:"traceback"`
		} `json:"outputs"`
	} `json:"cells"`
}

// took returns the time that the code cells ran, without the start of the kernel.
func (nb executedNotebook) took() (all time.Duration) {
	for _, c := range nb.Cells {
		all += c.Metadata.Execution.Ended.Sub(c.Metadata.Execution.Began)
	}
	return all
}

// multiline is a text. Files often hold it as a list of lines.
type multiline string

func (m *multiline) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*m = multiline(whole)
		return nil
	}
	var lines []string
	err := json.Unmarshal(text, &lines)
	*m = multiline(strings.Join(lines, ""))
	return err
}

// storedNotebook returns a notebook with the outputs that it must have on this number of ranks.
func storedNotebook(t *testing.T, file string, lesson tutorial.Lesson, ranks int) executedNotebook {
	t.Helper()
	text, err := os.ReadFile(file)
	if ranks == 2 {
		var recorded []byte
		if recorded, err = os.ReadFile(recordingOf(lesson, ranks)); err != nil {
			t.Fatal(err)
		}
		recording, failed := tutorial.ParseRecording(string(recorded))
		if failed != nil {
			t.Fatal(failed)
		}
		text, err = lesson.Notebook(recording)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return notebookOf(t, text)
}

// recordingOf returns the file that records the outputs of a lesson on 4 ranks or on 2.
func recordingOf(lesson tutorial.Lesson, ranks int) string {
	return "../../tutorials/" + lesson.Name + map[int]string{4: ".out", 2: ".2.out"}[ranks]
}

// notebookOf returns the notebook in the text of a file.
func notebookOf(t *testing.T, text []byte) (nb executedNotebook) {
	t.Helper()
	if err := json.Unmarshal(text, &nb); err != nil {
		t.Fatal(err)
	}
	return nb
}

// executeNotebooks executes notebooks and returns them with their new outputs, in the form of their
// files. The keys are file and run.
func (h home) executeNotebooks(ranks int, runs string, files []string) map[[2]string]json.RawMessage {
	h.t.Helper()
	out, errs, err := h.runPython(8*time.Minute, "", append([]string{"testdata/jupyter/execute.py", strconv.Itoa(ranks), runs},
		files...)...)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, errs)
	}
	executed := map[[2]string]json.RawMessage{}
	for line := range strings.Lines(out) {
		var key [2]string
		var nb json.RawMessage
		if err := json.Unmarshal([]byte(line), &[]any{&key[0], &key[1], &nb}); err != nil {
			h.t.Fatal(err)
		}
		executed[key] = nb
	}
	h.expectNothingLeft()
	return executed
}

// compareNotebooks compares each cell's outputs with the wanted ones. The kernel has run this many
// cells before.
func compareNotebooks(t *testing.T, ranks int, lesson tutorial.Lesson, before int, got, want executedNotebook) {
	t.Helper()
	if len(got.Cells) != len(want.Cells) {
		t.Fatalf("%d cells, want %d", len(got.Cells), len(want.Cells))
	}
	number := 0
	for i, w := range want.Cells {
		if w.Type != "code" {
			continue
		}
		number++
		cell := lesson.Runs()[number-1]
		if cell.Varies {
			continue
		}
		g := comparable(t, ranks, shownBy(t, got, i, number+before))
		if w := comparable(t, ranks, shownBy(t, want, i, number)); g != w {
			t.Errorf("cell %d, %s:%d, shows\n%s\nwant\n%s", i+1, cell.File, cell.Line, g, w)
		}
	}
}

// waiting matches the session's remark about a cell that takes long on a busy machine: a line, a
// line for each group of ranks, and in place of the first line, when the cell has ended, how it has.
var waiting = regexp.MustCompile(`(?m)^(\[[0-9,-]+\] )?.* has (run for [0-9.]+ s( and waits)? \(.*|failed after [0-9.]+ s(, until when it waited:)?)\n((\[[0-9,-]+\] )?  .*\n)*|^In\[[0-9]+\] took [0-9.]+ s\n`)

// noted matches the notes that lessons mean to get: of an import, and of a mistake to repair. Recordings
// do not hold notes.
var noted = regexp.MustCompile(`(?m)^(\[[0-9,-]+\] )?note: (imported |.* returns another tensor, which nothing keeps).*\n`)

// withoutRemarks removes the session's own remarks.
func withoutRemarks(text string) string {
	return noted.ReplaceAllString(waiting.ReplaceAllString(text, ""), "")
}

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// withRanks begins the lines below an error's first line with its ranks, as recordings do.
func withRanks(text string) string {
	var b strings.Builder
	ranks := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[") {
			ranks = line[:strings.Index(line, " ")+1]
		} else if strings.HasPrefix(line, " ") {
			b.WriteString(ranks)
		}
		b.WriteString(line)
	}
	return b.String()
}

// shownBy returns the outputs of cell i, which the kernel gave this number, without the session's
// remarks. It removes the number from errors.
func shownBy(t *testing.T, nb executedNotebook, i, number int) tutorial.Shown {
	t.Helper()
	var shown tutorial.Shown
	plain := func(data map[string]any) string {
		var text multiline
		form, err := json.Marshal(data["text/plain"])
		if err == nil {
			err = json.Unmarshal(form, &text)
		}
		if err != nil {
			t.Error(err)
		}
		return string(text) + "\n"
	}
	add := func(kind, text string) {
		text = strings.ReplaceAll(text, fmt.Sprintf("In[%d]", number), "In[]")
		if last := len(shown) - 1; last >= 0 && shown[last].Kind == kind {
			shown[last].Text += text
		} else {
			shown = append(shown, tutorial.Piece{Kind: kind, Text: text})
		}
	}
	apart := "" // values and errors of a display of tabs, after which the error has only first lines
	for _, o := range nb.Cells[i].Outputs {
		page, _ := joined(o.Data["text/html"]).(string)
		switch o.Type {
		case "stream":
			if text := withoutRemarks(string(o.Text)); text != "" {
				add(o.Name, text)
			}
		case "execute_result":
			if o.Count != number {
				t.Errorf("the result of In[%d] is called Out[%d]", number, o.Count)
			}
			add(tutorial.Value, plain(o.Data))
		case "display_data":
			if o.Data["text/plain"] == nil { // the tabs of what streams hold
			} else if strings.Contains(page, `class="symm-failed"`) {
				apart = plain(o.Data)
			} else if page != "" || strings.Contains(plain(o.Data), "    repair: ") {
				add(tutorial.Finding, plain(o.Data))
			} else if text := withoutRemarks(plain(o.Data)); text != "" {
				t.Errorf("cell %d displays %s, a form that recordings do not hold", i+1, text)
			}
		case "error":
			text := colour.ReplaceAllString(strings.Join(o.Traceback, "\n")+"\n", "")
			if first, _, _ := strings.Cut(text, "\n"); strings.Contains(apart, first) {
				at := strings.Index(apart, first)
				if at > 0 {
					add(tutorial.Value, apart[:at])
				}
				text = apart[at:]
			}
			add(tutorial.Error+" "+o.Error, withRanks(text))
		default:
			t.Errorf("cell %d has an output of type %s, which recordings do not hold", i+1, o.Type)
		}
	}
	return shown
}
