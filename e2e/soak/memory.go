package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memory is the resident set of a manager, in MB.
type memory struct {
	manager string
	pid     int
	// warm is the most while caches filled, most that of the time after.
	warm, most float64
	now        float64
}

// look reads it. isWarm is whether caches are filled.
func (m *memory) look(isWarm bool) error {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.pid))
	if err != nil {
		return fmt.Errorf("memory of %s: %w", m.manager, err)
	}
	for line := range strings.Lines(string(status)) {
		value, ok := strings.CutPrefix(line, "VmRSS:")
		if !ok {
			continue
		}
		kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			return fmt.Errorf("memory of %s: %w", m.manager, err)
		}
		m.now = kilobytes / 1000
		if isWarm {
			m.most = max(m.most, m.now)
		} else {
			m.warm = max(m.warm, m.now)
		}
		return nil
	}
	return fmt.Errorf("memory of %s: it has ended", m.manager)
}

// judge is an error if memory is not flat.
func (m *memory) judge() error {
	const growth = 1.5
	if m.now > growth*m.warm {
		return fmt.Errorf("memory grew: %s", m)
	}
	return nil
}

// String says how it went.
func (m *memory) String() string {
	return fmt.Sprintf("%s %.0f MB after a quarter of the time, %.0f MB at most afterwards, %.0f MB at the end", m.manager, m.warm, m.most, m.now)
}
