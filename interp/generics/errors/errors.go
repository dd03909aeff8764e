// Package errors is the generic part of the standard library's errors.
package errors

import "errors"

// AsType is the first error of err's tree that is an E, and whether there is one.
func AsType[E error](err error) (E, bool) {
	var e E
	if err == nil || !errors.As(err, &e) {
		var none E
		return none, false
	}
	return e, true
}
