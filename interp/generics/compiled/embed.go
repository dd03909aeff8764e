package compiled

import (
	"cmp"
	"embed"
	"path"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// EmbedFS returns an embed.FS with files, given as names and contents alternately. It panics if
// this version of Go represents an embed.FS differently.
func EmbedFS(files ...string) embed.FS {
	data := map[string]string{}
	for i := 0; i+1 < len(files); i += 2 {
		data[files[i]] = files[i+1]
		for dir := path.Dir(files[i]); dir != "."; dir = path.Dir(dir) {
			data[dir+"/"] = ""
		}
	}
	names := make([]string, 0, len(data))
	for name := range data {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { // the order in which package embed searches
		a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
		return cmp.Or(cmp.Compare(path.Dir(a), path.Dir(b)), cmp.Compare(path.Base(a), path.Base(b)))
	})
	var out embed.FS
	list := settable(reflect.ValueOf(&out).Elem().FieldByName("files"))
	entries := reflect.MakeSlice(list.Type().Elem(), len(names), len(names))
	for i, name := range names {
		for field, text := range map[string]string{"name": name, "data": data[name]} {
			settable(entries.Index(i).FieldByName(field)).SetString(text)
		}
	}
	list.Set(reflect.New(entries.Type()))
	list.Elem().Set(entries)
	return out
}

// settable returns an unexported field as a value that can be set.
func settable(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}
