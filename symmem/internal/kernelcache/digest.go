package kernelcache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// sums is the folder with the digests of the entries, each in a file with the entry's name.
const sums = "sums"

// sum returns the digest of an entry when it was built, or "" if it is not known.
func (c *Cache) sum(name string) string {
	text, err := os.ReadFile(filepath.Join(c.dir, sums, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// install moves a new entry into place. The digest is written first: if the process dies in
// between, the entry does not match and is built again.
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
	// a folder cannot be replaced by renaming
	if old, err := os.Lstat(path); err == nil && old.IsDir() {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return os.Rename(made, path)
}

// Read returns the content of an entry that is a file. It returns an error if the file was changed
// after Entry found it. To map the content, map a copy of it, because truncating a mapped file
// kills the processes that access it.
func (c *Cache) Read(name string) ([]byte, error) {
	text, err := os.ReadFile(c.Path(name))
	if err == nil && Key(".", string(text)) != c.sum(name) {
		err = fmt.Errorf("%s: it was changed just now by another program; try again", c.Path(name))
	}
	return text, err
}

// digest returns the digest of a file, or of the names and contents of the files in a folder. It
// refuses files that others own or may write to, and anything that is neither a file nor a folder.
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
