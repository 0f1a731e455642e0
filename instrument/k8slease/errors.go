package k8slease

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/leaderscope/leaderscope/instrument"
)

var (
	// errConflict stands for a conflict of a renewal or a release. The object
	// has changed, which may be the holder's own request that was given up:
	// only the next Get tells whose the lease is.
	errConflict = errors.New("k8slease: the lease object has changed")
	// errTaken: the server has shown the lease in another's hands, or in none.
	errTaken = fmt.Errorf("k8slease: the lease object names another holder: %w", instrument.ErrContended)
	// errDeleted: the lease object was gone when it was to be released.
	errDeleted = fmt.Errorf("k8slease: the lease object has been deleted: %w", instrument.ErrSessionLost)
	// errGaveUp: the elector reached its renew deadline.
	errGaveUp = fmt.Errorf("k8slease: lease was not renewed within the renew deadline: %w", instrument.ErrGaveUp)
	// errPanicked stands for the answer of a resource lock that has panicked.
	errPanicked = errors.New("k8slease: the resource lock has panicked")
)

// attemptError tells the core what an error of an attempt is: a write that met
// another's is contention, any other answer of the server is a failure of the
// backend.
func attemptError(err error) error {
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%w: %w", instrument.ErrContended, err)
	case isStatus(err):
		return fmt.Errorf("%w: %w", instrument.ErrBackend, err)
	}
	return err
}

func isStatus(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// renewalError keeps a classifier of the program from taking a conflict for a
// loss.
func renewalError(err error) error {
	if apierrors.IsConflict(err) {
		return errConflict
	}
	return err
}
