package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// lives reads the log of a manager through all its lives.
type lives struct {
	isEnding bool
	// errors counts the errors, without what differs from one to the next.
	errors map[string]int
}

// take counts the errors of a manager that was not told to stop. One that was gives up
// whatever it is doing, and how far it had come is chance; what it must not fail at, it
// exits with.
func (l *lives) take(line []byte) error {
	entry := parseLogEntry(line)
	switch {
	case entry.Level == infoLevel && entry.Message == begins:
		l.isEnding = false
	case entry.Level == infoLevel && strings.HasPrefix(entry.Message, ending):
		l.isEnding = true
	case entry.Level == noEntry, entry.Level != infoLevel && !l.isEnding:
		l.errors[passing.ReplaceAllString(entry.String(), "…")]++
	}
	return nil
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

// logErrors counts the errors in the log of all lives of the manager.
func (m *Manager) logErrors() (map[string]int, error) {
	log, read := Lines{Path: m.process.LogFile()}, lives{errors: map[string]int{}}
	if err := log.Next(read.take); err != nil {
		return nil, fmt.Errorf("the log of the manager: %w", err)
	}
	return read.errors, nil
}
