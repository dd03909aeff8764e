package interp

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"

	"github.com/traefik/yaegi/stdlib"
)

// overrides are symbols of the standard library that cells get in place of the tables'.
func (rt *cellRuntime) overrides() Exports {
	return Exports{
		".":             {"MapTypes": reflect.ValueOf(mapTypes())},
		"time/time":     {"Sleep": reflect.ValueOf(rt.sleep), "AfterFunc": reflect.ValueOf(rt.afterFunc)},
		"errors/errors": {"Is": reflect.ValueOf(rt.errorsIs), "As": reflect.ValueOf(rt.errorsAs)},
	}
}

func (rt *cellRuntime) errorsIs(err, target error) bool { return rt.in.inside.errorsIs(err, target) }
func (rt *cellRuntime) errorsAs(err error, target any) bool {
	return rt.in.inside.errorsAs(err, target)
}

// mapTypes says as what yaegi gives values of cells to printing functions, which look at their methods: errors come before Stringers.
func mapTypes() map[reflect.Value][]reflect.Type {
	m := maps.Clone(stdlib.MapTypes)
	printed := []reflect.Type{reflect.TypeFor[fmt.Formatter](), reflect.TypeFor[error](), reflect.TypeFor[fmt.Stringer]()}
	for f, types := range m {
		if slices.Contains(types, reflect.TypeFor[fmt.Stringer]()) {
			m[f] = printed
		}
	}
	return m
}

// overridesAfterUse are those that yaegi itself replaces: its own log, for one, writes where nobody reads.
func overridesAfterUse() Exports {
	return Exports{"log/log": stdlib.Symbols["log/log"], "os/os": {"Exit": reflect.ValueOf(os.Exit)}}
}
