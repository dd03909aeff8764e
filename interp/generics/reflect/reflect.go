// Package reflect is the generic part of the standard library's reflect.
package reflect

import "reflect"

// TypeFor is the type T.
func TypeFor[T any]() reflect.Type {
	var p *T
	return reflect.TypeOf(p).Elem()
}

// TypeAssert is v.Interface().(T), and whether that holds.
func TypeAssert[T any](v reflect.Value) (T, bool) {
	if !v.IsValid() {
		panic(&reflect.ValueError{Method: "reflect.TypeAssert"})
	}
	x, ok := v.Interface().(T)
	return x, ok
}
