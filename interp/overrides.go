package interp

import (
	"log"
	"os"
	"reflect"
)

// overrides are symbols of the standard library that cells get in place of the tables'.
func overrides() Exports { return Exports{} }

// overridesAfterUse are those that yaegi itself would replace.
func overridesAfterUse() Exports {
	return Exports{
		"log/log": {"Fatal": reflect.ValueOf(log.Fatal), "Fatalf": reflect.ValueOf(log.Fatalf), "Fatalln": reflect.ValueOf(log.Fatalln)},
		"os/os":   {"Exit": reflect.ValueOf(os.Exit)},
	}
}
