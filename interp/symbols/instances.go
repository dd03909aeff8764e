package symbols

import (
	"crypto/hkdf"
	"crypto/pbkdf2"
	"hash"
	"reflect"
)

// Yaegi has no table for packages with only generic functions. Functions that are used with a
// single type are here; the others are in package generics.
func init() {
	Symbols["crypto/hkdf/hkdf"] = map[string]reflect.Value{
		"Expand":  reflect.ValueOf(hkdf.Expand[hash.Hash]),
		"Extract": reflect.ValueOf(hkdf.Extract[hash.Hash]),
		"Key":     reflect.ValueOf(hkdf.Key[hash.Hash]),
	}
	Symbols["crypto/pbkdf2/pbkdf2"] = map[string]reflect.Value{"Key": reflect.ValueOf(pbkdf2.Key[hash.Hash])}
	for _, key := range []string{"iter/iter", "unique/unique", "weak/weak"} {
		Symbols[key] = map[string]reflect.Value{}
	}
}
