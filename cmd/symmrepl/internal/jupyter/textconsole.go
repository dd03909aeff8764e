package jupyter

import "strings"

// Text consoles, as jupyter console and qtconsole, ignore update_display_data. No message says which
// program a front end is, but a console asks whether a text is complete just before it sends it, and
// names no cell; JupyterLab's own console names one. The programs of euporie show no more output of
// the kernel after an update_display_data (in version 2.10), and name themselves as the user.

// euporie begins the user's name in messages of euporie.
const euporie = "euporie-"

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

// isConsole reports whether an entry comes from a text console, which asks anew before each entry, or
// from euporie. k.mu is held.
func (k *Kernel) isConsole(r *request, code string) bool {
	typed, asked := k.typed[r.Session]
	delete(k.typed, r.Session)
	if strings.HasPrefix(r.User, euporie) {
		return true
	}
	return asked && r.cellID == "" && strings.TrimSpace(typed) == strings.TrimSpace(code)
}
