package interp

import (
	"log"
	"os"
	"reflect"
)

// overrides are symbols of the standard library that cells get in place of the tables'.
func (rt *cellRuntime) overrides() Exports {
	return Exports{"time/time": {"Sleep": reflect.ValueOf(rt.sleep), "AfterFunc": reflect.ValueOf(rt.afterFunc)}}
}

// overridesAfterUse are those that yaegi itself would replace.
func overridesAfterUse() Exports {
	return Exports{
		"log/log": {"Fatal": reflect.ValueOf(log.Fatal), "Fatalf": reflect.ValueOf(log.Fatalf), "Fatalln": reflect.ValueOf(log.Fatalln)},
		"os/os":   {"Exit": reflect.ValueOf(os.Exit)},
	}
}
