// Package dot holds Display, the only name of package display that cells use without the package
// name. Cells import this package with a dot import, which the session adds.
package dot

import "github.com/symmrepl/symmrepl/display"

// Display shows d now, in order with the printed output. It returns an error if d cannot be encoded
// or written.
func Display(d display.Data) error { return display.Display(d) }
