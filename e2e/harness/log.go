package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// LogEntry is a line of a manager's log.
type LogEntry struct {
	Level   string `json:"level"`
	Logger  string `json:"logger"`
	Message string `json:"msg"`
	Error   string `json:"error"`
}

// String is what happened.
func (l LogEntry) String() string {
	return fmt.Sprintf("%s %s: %s %s", l.Level, l.Logger, l.Message, l.Error)
}

const (
	infoLevel = "info"
	// noEntry is the level of a line that the manager's logger did not write, as of a panic.
	noEntry = "no entry"
	// entryStart begins every line of the manager's logger.
	entryStart = `{"level":"`
	// begins is what a manager says first, and ending begins what it says when it was
	// told to stop.
	begins = "starting"
	ending = "Stopping and waiting for "
)

// passing is what differs from one line of a log to the next.
var passing = regexp.MustCompile(`e2e-[a-z0-9]+/\S+|\be2e-[a-z0-9]+\b|\b[0-9a-f]{8,}\b|"[^"]*"|'[^']*'`)

// logErrors counts the errors in a log, without what differs from one to the next.
// Those of a manager that was told to stop are left out: it gives up whatever it is
// doing, and how far it had come is chance. What it must not fail at, it exits with.
func logErrors(log io.Reader) (map[string]int, error) {
	found, isEnding := map[string]int{}, false
	for lines := bufio.NewReaderSize(log, bufferSize); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		entry := parseLogEntry(line)
		switch {
		case entry.Level == infoLevel && entry.Message == begins:
			isEnding = false
		case entry.Level == infoLevel && strings.HasPrefix(entry.Message, ending):
			isEnding = true
		case entry.Level == noEntry, entry.Level != infoLevel && !isEnding:
			found[passing.ReplaceAllString(entry.String(), "…")]++
		}
	}
}

// parseLogEntry reads a line. A manager that is killed may leave the beginning of one,
// behind which its successor writes the next.
func parseLogEntry(line []byte) LogEntry {
	var entry LogEntry
	if err := json.Unmarshal(line[max(0, bytes.LastIndex(line, []byte(entryStart))):], &entry); err != nil {
		return LogEntry{Level: noEntry, Message: string(bytes.TrimSpace(line))}
	}
	return entry
}

// logErrors are those in the log of all lives of the manager.
func (m *Manager) logErrors() (map[string]int, error) {
	file, err := os.Open(m.process.LogFile())
	if err != nil {
		return nil, fmt.Errorf("the log of the manager: %w", err)
	}
	defer file.Close()
	found, err := logErrors(file)
	if err != nil {
		return nil, fmt.Errorf("the log of the manager: %w", err)
	}
	return found, nil
}
