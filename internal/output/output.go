// Package output puts generated files into a directory: all of them or none,
// each of them whole, and never outside of it. What is in the files is not
// its business.
package output

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// File is one generated file.
type File struct {
	// Path is relative to the directory, with slashes.
	Path string
	Data []byte
}

// State says how a file on disk compares with the generated one.
type State string

// The states.
const (
	Same     State = "same"
	Differs  State = "differs"
	Missing  State = "missing"
	InTheWay State = "in the way"
)

// Finding is the state of one file.
type Finding struct {
	Path  string
	State State
	// Detail says what is in the way; empty otherwise.
	Detail string
}

// Check compares the files with those in a directory, in their order, and
// writes nothing. A directory that does not exist has none of them.
func Check(dir string, files []File) ([]Finding, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		findings := make([]Finding, len(files))
		for i, f := range files {
			findings[i] = Finding{Path: f.Path, State: Missing}
		}
		return findings, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return check(root, files)
}

func check(root *os.Root, files []File) ([]Finding, error) {
	findings := make([]Finding, len(files))
	for i, f := range files {
		var err error
		if findings[i], err = compare(root, f); err != nil {
			return nil, err
		}
	}
	return findings, nil
}

func compare(root *os.Root, f File) (Finding, error) {
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		info, err := root.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if _, err := root.Lstat(dir); err == nil {
				return Finding{f.Path, InTheWay, dir + " is a link to nothing"}, nil
			}
		case err != nil && isEscape(root, dir):
			return Finding{f.Path, InTheWay, dir + " is a link that leaves the directory"}, nil
		case err == nil && !info.IsDir():
			return Finding{f.Path, InTheWay, dir + " is not a directory"}, nil
		}
	}
	info, err := root.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Finding{f.Path, Missing, ""}, nil
	}
	if err != nil {
		return Finding{}, err
	}
	switch {
	case info.IsDir():
		return Finding{f.Path, InTheWay, f.Path + " is a directory"}, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return Finding{f.Path, InTheWay, f.Path + " is a link"}, nil
	case !info.Mode().IsRegular():
		return Finding{f.Path, InTheWay, f.Path + " is not a regular file"}, nil
	}
	data, err := root.ReadFile(f.Path)
	if err != nil {
		return Finding{}, err
	}
	if !bytes.Equal(data, f.Data) {
		return Finding{f.Path, Differs, ""}, nil
	}
	return Finding{f.Path, Same, ""}, nil
}

// isEscape reports whether a link is why a directory cannot be looked at: the
// error for it is not exported.
func isEscape(root *os.Root, dir string) bool {
	info, err := root.Lstat(dir)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Write brings the directory up to date, making it where needed, and reports
// what it found before. Files that are the same are left alone. New contents
// are written beside the old ones and take their place by renaming, so that a
// reader sees the old file or the new one; a failure before the first rename
// changes nothing. Links are not followed out of the directory, and nothing
// that is in the way is removed: that is an error. Write is not safe for
// concurrent use on one directory.
func Write(dir string, files []File) (findings []Finding, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if findings, err = check(root, files); err != nil {
		return nil, err
	}
	for _, f := range findings {
		if f.State == InTheWay {
			return nil, fmt.Errorf("cannot write %s: %s", f.Path, f.Detail)
		}
	}
	return findings, replace(root, files, findings)
}

// replace stages all contents, then renames them.
func replace(root *os.Root, files []File, findings []Finding) (err error) {
	staged := map[string]string{}
	defer func() {
		for _, temporary := range staged {
			err = errors.Join(err, root.Remove(temporary))
		}
	}()
	for i, f := range files {
		if findings[i].State == Same {
			continue
		}
		temporary := path.Join(path.Dir(f.Path), "."+path.Base(f.Path)+"."+rand.Text()+".tmp")
		if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
			return err
		}
		staged[f.Path] = temporary
		if err := writeWhole(root, temporary, f.Data); err != nil {
			return err
		}
	}
	for _, f := range files {
		temporary, ok := staged[f.Path]
		if !ok {
			continue
		}
		if err := root.Rename(temporary, f.Path); err != nil {
			return err
		}
		delete(staged, f.Path)
	}
	return nil
}

// writeWhole puts the data on the disk before the file gets its name, so that
// a crash leaves no empty file under it.
func writeWhole(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
