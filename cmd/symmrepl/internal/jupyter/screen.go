package jupyter

import "github.com/symmrepl/symmrepl/cmd/symmrepl/internal/notebook"

// screen is the console.Printer of one entry.
type screen struct {
	*notebook.Screen
	k       *Kernel
	request *request
	input   bool // the front end offers standard input

	payload []any
}

// newScreen returns a screen that publishes to all front ends, or to none if the entry is silent.
// console is set if a text console has sent it.
func newScreen(k *Kernel, r *request, number int, silent, console bool) *screen {
	publish := func(kind string, c any) {
		if result, ok := c.(content); ok && kind == "execute_result" {
			k.noteResult(number, result)
		}
		if !silent {
			k.publish(r, kind, c)
		}
	}
	s := notebook.NewScreen(1, inputName(number), r.ID, number, publish)
	s.Console = console
	return &screen{Screen: s, k: k, request: r, payload: []any{}}
}

// noteResult adds the text of a result to the history.
func (k *Kernel) noteResult(number int, result content) {
	data, _ := result["data"].(content)
	if text, ok := data["text/plain"].(string); ok {
		k.history.result(number, text)
	}
}
