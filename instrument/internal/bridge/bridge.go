// Package bridge lets package electtest make what only package instrument can
// make, without an exported name that only tests use.
package bridge

import "time"

// NewSink makes an instrument.Sink of functions. Package instrument sets it.
var NewSink func(renewed func(sent, expiry time.Time, granted time.Duration), failed func(sent time.Time, err error), lost func(cause error)) any
