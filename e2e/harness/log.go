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

// LogErrors are the lines of all logs of the manager that are no information, and
// those that are no lines of its logger at all, as of a panic.
func (m *Manager) LogErrors() ([]LogEntry, error) {
	file, err := os.Open(m.process.LogFile())
	if err != nil {
		return nil, fmt.Errorf("the log of the manager: %w", err)
	}
	defer file.Close()
	var found []LogEntry
	for lines := bufio.NewReaderSize(file, bufferSize); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the log of the manager: %w", err)
		}
		if entry := parseLogEntry(line); entry.Level != "info" {
			found = append(found, entry)
		}
	}
}

func parseLogEntry(line []byte) LogEntry {
	var entry LogEntry
	if err := json.Unmarshal(line, &entry); err != nil {
		return LogEntry{Level: "no entry", Message: string(bytes.TrimSpace(line))}
	}
	return entry
}

// passing is what differs from one line of a log to the next.
var passing = regexp.MustCompile(`e2e-[a-z0-9]+/\S+|\b[0-9a-f]{8,}\b|"[^"]*"|'[^']*'`)

// Unexplained counts the entries that have none of the expected texts in them, without
// what differs from one to the next.
func Unexplained(entries []LogEntry, expected map[string]string) map[string]int {
	found := map[string]int{}
	for _, entry := range entries {
		text := passing.ReplaceAllString(entry.String(), "…")
		isExpected := false
		for part := range expected {
			isExpected = isExpected || strings.Contains(text, part)
		}
		if !isExpected {
			found[text]++
		}
	}
	return found
}
