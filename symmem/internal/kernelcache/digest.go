package kernelcache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// sums is the folder of the digests of the entries, each in a file of the entry's name.
const sums = "sums"

// sum returns the digest that an entry had when it was built, "" if it is not known.
func (c *Cache) sum(name string) string {
	text, err := os.ReadFile(filepath.Join(c.dir, sums, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// install puts what was built in the place of an entry. The digest comes first: a process that dies in between leaves an entry that is not
// what was built, which is built again.
func (c *Cache) install(made, name string) error {
	sum, err := digest(made)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(c.dir, sums), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, sums, name), []byte(sum), 0o600); err != nil {
		return err
	}
	path := c.Path(name)
	if old, err := os.Lstat(path); err == nil && old.IsDir() { // which cannot be renamed over
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return os.Rename(made, path)
}

// Read returns the content of an entry that is a file, as it was built: what changed in the file since Entry found it is an error.
// Who maps the content maps a copy of it: a file that is cut while it is mapped ends those who touch it.
func (c *Cache) Read(name string) ([]byte, error) {
	text, err := os.ReadFile(c.Path(name))
	if err == nil && Key(".", string(text)) != c.sum(name) {
		err = fmt.Errorf("%s: it was changed just now by another program; try again", c.Path(name))
	}
	return text, err
}

// digest returns the digest of a file, or of the names and contents of the files in a folder. It refuses what others own or may write to,
// and what is neither.
func digest(path string) (string, error) {
	var fields []string
	err := filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := closed(file, info); err != nil || e.IsDir() {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: it is no regular file", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(path, file)
		fields = append(fields, relative, string(text))
		return err
	})
	return Key(fields...), err
}
