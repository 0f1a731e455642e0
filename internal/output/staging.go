package output

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
)

// tree is the part of [os.Root] that staging uses.
type tree interface {
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	ReadFile(name string) ([]byte, error)
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
	Mkdir(name string, mode fs.FileMode) error
	Chmod(name string, mode fs.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	FS() fs.FS
	Close() error
}

// staging is one run of [Write]: what it has created and not yet renamed.
type staging struct {
	dir    string
	root   tree
	unlock func()
	// above are the directories that were made to reach the root, and below
	// those within it, parents first.
	above, below []string
	// files maps names to the temporary files that will take their place.
	files map[string]string
}

// open makes the directory and locks it.
func (s *staging) open() error {
	for d := filepath.Clean(s.dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.above = slices.Insert(s.above, 0, d)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	s.root = root
	s.unlock, err = lock(root)
	return err
}

// run stages all contents, then puts them in place. From the first rename on
// it is not interrupted.
func (s *staging) run(ctx context.Context, files []File) (findings []Finding, err error) {
	if findings, err = check(s.root, files); err != nil {
		return nil, err
	}
	for _, f := range findings {
		if f.State == InTheWay {
			return nil, obstacle{f}
		}
	}
	if err := s.sweep(files); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, files, findings); err != nil {
		return nil, err
	}
	return findings, s.commit(files)
}

// obstacle is a finding that keeps a file from being written.
type obstacle struct{ Finding }

func (o obstacle) Error() string {
	return fmt.Sprintf("cannot write %s: %s; move it away, or choose another directory", o.Path, o.Detail)
}

// prepare stages what differs.
func (s *staging) prepare(ctx context.Context, files []File, findings []Finding) error {
	s.files = map[string]string{}
	for i, f := range files {
		if findings[i].State == Same {
			continue
		}
		if err := s.stage(f); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// commit puts the staged files in place.
func (s *staging) commit(files []File) error {
	staged := len(s.files)
	for _, f := range files {
		temporary, ok := s.files[f.Path]
		if !ok {
			continue
		}
		if err := s.root.Rename(temporary, f.Path); err != nil && len(s.files) < staged {
			return fmt.Errorf("%d of %d files were replaced; run the same command again: %w", staged-len(s.files), staged, err)
		} else if err != nil {
			return err
		}
		delete(s.files, f.Path)
	}
	return nil
}

// undo removes what is left of a run: temporary files, and after a failure the
// directories that it made.
func (s *staging) undo(failed bool) (err error) {
	if s.root != nil {
		err = s.clear(failed)
	}
	for _, dir := range slices.Backward(s.above) {
		if failed {
			_ = os.Remove(dir) // unless something is in it, or it was not made
		}
	}
	return err
}

func (s *staging) clear(failed bool) (err error) {
	for _, temporary := range s.files {
		if gone := s.root.Remove(temporary); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	for _, dir := range slices.Backward(s.below) {
		if failed {
			_ = s.root.Remove(dir) // unless something is in it
		}
	}
	if s.unlock != nil {
		s.unlock()
	}
	return errors.Join(err, s.root.Close())
}

// stage writes a file beside its place, with the mode of the one there.
func (s *staging) stage(f File) error {
	if err := s.mkdir(path.Dir(f.Path)); err != nil {
		return err
	}
	temporary := path.Join(path.Dir(f.Path), "."+path.Base(f.Path)+"."+rand.Text()+".tmp")
	s.files[f.Path] = temporary
	if err := writeWhole(s.root, temporary, f.Data); err != nil {
		return err
	}
	info, err := s.root.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.root.Chmod(temporary, info.Mode().Perm())
}

// mkdir makes a directory and those above it, and remembers which.
func (s *staging) mkdir(dir string) error {
	if _, err := s.root.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	if err := s.root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	s.below = append(s.below, dir)
	return nil
}

// writeWhole flushes the data to disk before the file gets its final name, so that a
// crash leaves no empty file with that name.
func writeWhole(root tree, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// leftover matches the temporary files of [staging.stage].
var leftover = regexp.MustCompile(`^\.(.+)\.[A-Z2-7]{26}\.tmp$`)

// sweep removes the temporary files that a killed run left beside the files.
func (s *staging) sweep(files []File) error {
	names := map[string][]string{}
	for _, f := range files {
		names[path.Dir(f.Path)] = append(names[path.Dir(f.Path)], path.Base(f.Path))
	}
	for _, dir := range slices.Sorted(maps.Keys(names)) {
		entries, err := fs.ReadDir(s.root.FS(), dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			m := leftover.FindStringSubmatch(e.Name())
			if m == nil || !e.Type().IsRegular() || !slices.Contains(names[dir], m[1]) {
				continue
			}
			if err := s.root.Remove(path.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
