// Package dot has the one name of package display that cells use without its package's: they import it by a dot, without being asked to.
package dot

import "github.com/symmrepl/symmrepl/display"

// Display shows d now, in its place among what is printed. It returns an error if d cannot be encoded or written.
func Display(d display.Data) error { return display.Display(d) }
