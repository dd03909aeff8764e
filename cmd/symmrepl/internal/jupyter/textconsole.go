package jupyter

import "strings"

// Text consoles, as jupyter console and qtconsole, ignore update_display_data. No message says which
// program a front end is, but a console asks whether a text is complete just before it sends it, and
// names no cell; JupyterLab's own console names one.

// mostTyped bounds the client sessions of which the latest text is kept.
const mostTyped = 64

// noteTyped records the text of an is_complete_request.
func (k *Kernel) noteTyped(r *request, code string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.typed[r.Session]; !known && len(k.typed) >= mostTyped {
		clear(k.typed)
	}
	k.typed[r.Session] = code
}

// isConsole reports whether an entry comes from a text console, which asks anew before each entry.
// k.mu is held.
func (k *Kernel) isConsole(r *request, code string) bool {
	typed, asked := k.typed[r.Session]
	delete(k.typed, r.Session)
	return asked && r.cellID == "" && strings.TrimSpace(typed) == strings.TrimSpace(code)
}
