package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process reads what a process of this machine has used.
type process struct{ pid int }

// ticksPerSecond is the unit of /proc/<pid>/stat on every Linux that Go runs on.
const ticksPerSecond = 100

// CPU returns the seconds of CPU that the process has used, user and system.
func (p process) CPU() (float64, error) {
	stat, err := os.ReadFile(p.file("stat"))
	if err != nil {
		return 0, fmt.Errorf("CPU of the manager: %w", err)
	}
	// The name in parentheses may hold spaces; utime and stime are fields 14 and 15.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("CPU of the manager: %q has too few fields", stat)
	}
	var ticks float64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU of the manager: %w", err)
		}
		ticks += n
	}
	return ticks / ticksPerSecond, nil
}

// PeakMemory returns the largest resident set since ResetPeakMemory, in MB.
func (p process) PeakMemory() (float64, error) { return p.memory("VmHWM:") }

// Memory returns the resident set, in MB.
func (p process) Memory() (float64, error) { return p.memory("VmRSS:") }

// ProgramMemory returns how much of the resident set is the program's file, in MB. How
// much of a file a kernel keeps mapped is its own affair, and differs between versions.
func (p process) ProgramMemory() (float64, error) { return p.memory("RssFile:") }

// ResetPeakMemory makes the kernel forget the peak so far.
func (p process) ResetPeakMemory() error {
	if err := os.WriteFile(p.file("clear_refs"), []byte("5"), 0); err != nil {
		return fmt.Errorf("resetting the peak memory of the manager: %w", err)
	}
	return nil
}

func (p process) memory(key string) (float64, error) {
	status, err := os.ReadFile(p.file("status"))
	if err != nil {
		return 0, fmt.Errorf("memory of the manager: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, key); ok {
			kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			if err != nil {
				return 0, fmt.Errorf("memory of the manager: %w", err)
			}
			return kilobytes / 1000, nil
		}
	}
	return 0, fmt.Errorf("memory of the manager: no %s in %s", key, p.file("status"))
}

func (p process) file(name string) string { return fmt.Sprintf("/proc/%d/%s", p.pid, name) }
