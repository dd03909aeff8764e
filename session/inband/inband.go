// Package inband carries what cells display, other than text, in a rank's standard output. There it keeps its place among what is
// printed, and is compared between ranks line by line as text is.
//
// A display is JSON in base64, cut into lines that have the form of a terminal's application program command, which a terminal that gets one by
// mistake does not show:
//
//	ESC _ symmrepl; hash ; number / count ; base64 ESC \ newline
//
// The hash is that of the whole display: lines of different displays differ, so ranks whose displays are alike have all of their lines alike.
package inband

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Display is one thing in the forms that front ends may choose from.
type Display struct {
	// Data is by MIME type: text as it is, binary data in base64, JSON as what it decodes to.
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	ID       string         `json:"id,omitempty"`     // under which it may be updated
	Update   bool           `json:"update,omitempty"` // it takes the place of what is shown under ID
	Clear    bool           `json:"clear,omitempty"`  // what the cell has shown so far goes away; there is no Data
	Wait     bool           `json:"wait,omitempty"`   // with Clear: when the next thing is shown
	Input    bool           `json:"input,omitempty"`  // nothing is shown: a line of standard input is asked for, here
	Note     bool           `json:"note,omitempty"`   // its text/plain is a remark of the session, not output of the cell
}

// Variable is the environment variable that is set, to anything, in processes whose standard output a session reads. Others must not write displays.
const Variable = "SYMMREPL_INBAND"

const (
	prefix = "\x1b_symmrepl;"
	suffix = "\x1b\\"
	// chunk is how much base64 a line has: shorter than the longest line that ranks' output is compared by.
	chunk = 48 << 10
)

// Encode returns the lines of a display. They are to be written by one call, so that nothing comes between them. A display that no JSON can be made of
// is refused, and so is one that takes more than 36 MiB of it.
func Encode(d Display) ([]byte, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if largest := base64.StdEncoding.DecodedLen(maxLines * chunk); len(b) > largest {
		return nil, fmt.Errorf("it takes %d MiB, and %d are shown at most", len(b)>>20, largest>>20)
	}
	sum := sha256.Sum256(b)
	text := base64.StdEncoding.EncodeToString(b)
	count := (len(text) + chunk - 1) / chunk
	var out []byte
	for i := range count {
		part := text[i*chunk : min(len(text), (i+1)*chunk)]
		out = fmt.Appendf(out, "%s%s;%d/%d;%s%s\n", prefix, hex.EncodeToString(sum[:8]), i+1, count, part, suffix)
	}
	return out, nil
}

// Remark shows a remark of the session: a whole line of text without its end. In a process whose standard output no session reads, it goes to
// standard error.
func Remark(text string) {
	if os.Getenv(Variable) != "" {
		if b, err := Encode(Display{Note: true, Data: map[string]any{"text/plain": text}}); err == nil {
			os.Stdout.Write(b)
			return
		}
	}
	fmt.Fprintln(os.Stderr, text)
}

// Decoder finds displays in what ranks print. The zero value is ready; it must not be used by several goroutines at once.
type Decoder struct {
	parts map[key][]string
}

// key is a display that has come in part.
type key struct {
	rank int
	hash string
}

// Piece is text or a display, and the ranks it is of.
type Piece struct {
	Ranks   []int
	Text    string
	Display *Display
}

// Begun reports whether the beginning of a line may be that of a display.
func Begun(line []byte) bool { return bytes.Contains(line, []byte(prefix)) }

// Split takes text that ranks have printed alike, whole lines, and returns the text and the displays in it, in order.
func (d *Decoder) Split(ranks []int, text string) []Piece {
	var out []Piece
	for {
		before, rest, found := strings.Cut(text, prefix)
		if !found {
			break
		}
		line, after, whole := strings.Cut(rest, suffix+"\n")
		f, ok := parseFrame(line)
		if !whole || !ok {
			break // it only looks like one
		}
		if before != "" {
			out = append(out, Piece{Ranks: ranks, Text: before})
		}
		if complete := d.add(ranks, f); complete != nil {
			shown, err := decode(d.take(complete[0], f.hash))
			for _, r := range complete[1:] {
				d.take(r, f.hash)
			}
			if err == nil {
				out = append(out, Piece{Ranks: complete, Display: shown})
			}
		}
		text = after
	}
	if text != "" {
		out = append(out, Piece{Ranks: ranks, Text: text})
	}
	return out
}

// frame is one line.
type frame struct {
	hash          string
	number, count int
	data          string
}

func parseFrame(line string) (f frame, ok bool) {
	parts := strings.SplitN(line, ";", 3)
	if len(parts) != 3 || len(parts[0]) != 16 {
		return f, false
	}
	number, count, _ := strings.Cut(parts[1], "/")
	f.hash, f.data = parts[0], parts[2]
	var err1, err2 error
	f.number, err1 = strconv.Atoi(number)
	f.count, err2 = strconv.Atoi(count)
	return f, err1 == nil && err2 == nil && f.number >= 1 && f.number <= f.count && f.count <= maxLines
}

// maxLines bounds a display: to 48 MiB of base64, less than a kernel keeps for a front end that is slow to read.
const maxLines = 1024

// add keeps a line for each rank and returns those whose display is complete with it.
func (d *Decoder) add(ranks []int, f frame) (complete []int) {
	if d.parts == nil {
		d.parts = map[key][]string{}
	}
	for _, r := range ranks {
		k := key{r, f.hash}
		if len(d.parts[k]) != f.number-1 { // one that did not end, or did not begin
			delete(d.parts, k)
			if f.number != 1 {
				continue
			}
		}
		d.parts[k] = append(d.parts[k], f.data)
		if f.number == f.count {
			complete = append(complete, r)
		}
	}
	return complete
}

func (d *Decoder) take(rank int, hash string) string {
	k := key{rank, hash}
	defer delete(d.parts, k)
	return strings.Join(d.parts[k], "")
}

func decode(text string) (*Display, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var d Display
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// Plain returns the display as text, "" when it has none. What is shown as text ends its line.
func (d *Display) Plain() string {
	switch text := d.Data["text/plain"].(type) {
	case string:
		return strings.TrimSuffix(text, "\n") + "\n"
	case nil:
	default:
		return fmt.Sprintln(text)
	}
	if len(d.Data) == 0 {
		return ""
	}
	var kinds []string
	for kind := range d.Data {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return "(" + strings.Join(kinds, ", ") + ")\n"
}
