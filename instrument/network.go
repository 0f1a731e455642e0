package instrument

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"reflect"
	"syscall"
)

// isNetwork reports plain network errors, the only ones that are taken for a
// failed backend although no classifier declared them: an error of the net package, a
// connection that was refused, reset or ended within an answer, a broken
// database connection, and gRPC's Unavailable. The deadline of a context is
// none: a library that waits for its turn gives it too.
func (e *Election) isNetwork(err error) (is bool) {
	defer e.m.contain(func() {})
	for _, target := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn} {
		if errors.Is(err, target) {
			return true
		}
	}
	if failed, ok := errors.AsType[net.Error](err); ok && failed != context.DeadlineExceeded {
		return true
	}
	code, ok := e.grpcCode(err)
	return ok && code == grpcUnavailable
}

// The codes of gRPC that matter here, by its specification.
const (
	grpcCanceled         = 1
	grpcDeadlineExceeded = 4
	grpcUnavailable      = 14
)

// grpcCode is the status code of a gRPC error. The error is recognised by its
// method GRPCStatus, whose result has a method Code, so that the core links no
// gRPC.
func (e *Election) grpcCode(err error) (code uint64, ok bool) {
	defer e.m.contain(func() {})
	for ; err != nil; err = errors.Unwrap(err) {
		method := reflect.ValueOf(err).MethodByName("GRPCStatus")
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			continue
		}
		status := method.Call(nil)[0].MethodByName("Code")
		if !status.IsValid() || status.Type().NumIn() != 0 || status.Type().NumOut() != 1 {
			continue
		}
		if answer := status.Call(nil)[0]; answer.CanUint() {
			return answer.Uint(), true
		}
	}
	return 0, false
}
