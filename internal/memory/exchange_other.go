//go:build !linux && !darwin

package memory

import "errors"

func swap(int, string, string) error { return errors.ErrUnsupported }
