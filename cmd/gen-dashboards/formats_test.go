package main

import "testing"

// A format says what is wrong with a configuration that nothing checked before,
// and gives no files of it.
func TestNoFormatMakesFilesOfABadConfiguration(t *testing.T) {
	for _, f := range formats {
		files, err := f.files(config{})
		if err == nil || files != nil {
			t.Errorf("%s: %d files and the error %v of the zero configuration", f.name, len(files), err)
		}
	}
}
