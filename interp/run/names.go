package run

import "regexp"

// TypeVersion stands before the number of a type that was declared again: a letter that nobody types.
const TypeVersion = "\u01c3"

var versionSuffix = regexp.MustCompile(`(#t?|` + TypeVersion + `)\d+`)

// PlainNames takes the marks out of a text that make the names of yaegi's symbols unique.
func PlainNames(s string) string { return versionSuffix.ReplaceAllString(s, "") }
