// Package output writes generated files to a directory: all of them or none, each
// complete, and never outside of the directory. It does not know their contents.
package output

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
)

// File is one generated file.
type File struct {
	// Path is relative to the directory, with slashes.
	Path string
	Data []byte
}

// State is the result of comparing a file on disk with the generated one.
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
		return nil, explain(dir, err)
	}
	defer root.Close()
	findings, err := check(root, files)
	return findings, explain(dir, err)
}

func check(root tree, files []File) ([]Finding, error) {
	findings := make([]Finding, len(files))
	for i, f := range files {
		var err error
		if findings[i], err = compare(root, f); err != nil {
			return nil, err
		}
	}
	return findings, nil
}

func compare(root tree, f File) (Finding, error) {
	for i, c := range f.Path {
		if c != '/' {
			continue
		}
		obstacle, err := look(root, f.Path[:i])
		switch {
		case err != nil:
			return Finding{}, err
		case obstacle != "":
			return Finding{f.Path, InTheWay, obstacle}, nil
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

// look says why a directory cannot be used; empty if it can be used, or does not
// exist.
func look(root tree, dir string) (obstacle string, err error) {
	info, err := root.Stat(dir)
	if err == nil && info.IsDir() {
		return "", nil
	}
	if err == nil {
		return dir + " is not a directory", nil
	}
	gone := errors.Is(err, fs.ErrNotExist)
	link, unlisted := root.Lstat(dir)
	switch {
	case gone && errors.Is(unlisted, fs.ErrNotExist):
		return "", nil
	case unlisted != nil || link.Mode()&fs.ModeSymlink == 0:
		return "", errors.Join(err, unlisted)
	case gone:
		return dir + " is a link to nothing", nil
	}
	return dir + " is a link that leaves the directory", nil
}

// Write brings the directory up to date, creates it if necessary, and returns the
// state before. Files with the same contents stay untouched, and replaced files keep
// their mode. Links are not followed out of the directory. If something other than a
// file is in the way, Write removes nothing and returns an error.
//
// New contents are first written to temporary files, which are all renamed at the
// end. A reader sees the old file or the new one. If the context ends, or an error
// occurs before the first rename, nothing has changed. The next run removes temporary
// files of a killed run. If the system supports locks, a second concurrent run on one
// directory is refused.
func Write(ctx context.Context, dir string, files []File) (findings []Finding, err error) {
	s := staging{dir: dir}
	defer func() { err = explain(dir, errors.Join(err, s.undo(err != nil))) }()
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.run(ctx, files)
}
