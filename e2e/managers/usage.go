package managers

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/<pid>/stat on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPU is what the process has used, user and system.
func (p *Process) CPU() (time.Duration, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("CPU of %s: %w", p.name, err)
	}
	// The name in parentheses may hold spaces; utime and stime are fields 14 and 15.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("CPU of %s: %q has too few fields", p.name, stat)
	}
	used := time.Duration(0)
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU of %s: %w", p.name, err)
		}
		used += time.Duration(ticks) * tick
	}
	return used, nil
}
