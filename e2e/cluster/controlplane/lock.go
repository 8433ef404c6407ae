package controlplane

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps two commands from changing one cluster at the same time. It goes
// with the process that holds it.
func (o Options) lock() (func(), error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(o.stateDir()+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("cluster %s is being started or stopped by another command", o.Name)
		}
		return nil, fmt.Errorf("lock of cluster %s: %w", o.Name, err)
	}
	return func() { _ = file.Close() }, nil
}
