package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// bufferSize is what the lines of most logs fit into.
const bufferSize = 1 << 20

// Lines reads a log that somebody goes on writing. What was read once is not read again.
type Lines struct {
	Path   string
	offset int64
}

// Next gives each line since the last call away. One that is still being written is
// left for the next call.
func (l *Lines) Next(take func(line []byte) error) error {
	file, err := os.Open(l.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", l.Path, err)
	}
	for reader := bufio.NewReaderSize(file, bufferSize); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			l.offset += int64(len(line))
			err = take(line)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
	}
}
