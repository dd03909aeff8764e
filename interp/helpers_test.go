package interp

import "reflect"

// testPackage is a package with a function that blocks.
func testPackage(wait func()) Exports {
	return Exports{"test/blocking/blocking": {"Wait": reflect.ValueOf(wait)}}
}
