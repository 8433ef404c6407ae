package main

import (
	"fmt"
	"regexp"
	"strings"
)

// anything stands in a shown output for what differs from run to run: in a line for
// some text, as a line for some lines.
const anything = "…"

var (
	// ages are how long ago something was, as kubectl writes it.
	ages   = regexp.MustCompile(`(^|[ (])(<invalid>|(\d+(\.\d+)?(ms|s|m|h|d))+)($|[ ),:;])`)
	spaces = regexp.MustCompile(`\s+`)
)

// compare says where what was printed differs from what is shown: empty if nowhere.
func compare(shown, printed string) string {
	if matchLines(lines(shown), lines(printed)) {
		return ""
	}
	got := lines(printed)
	for i, want := range lines(shown) {
		if want == anything {
			break
		}
		if i >= len(got) {
			return fmt.Sprintf("line %d was not printed: %s", i+1, want)
		}
		if !matchLine(want, got[i]) {
			return fmt.Sprintf("line %d is shown as\n  %s\nand printed as\n  %s", i+1, want, got[i])
		}
	}
	return "lines were printed that are not shown, or the other way round"
}

// lines are the lines of an output as far as they are the same in every run: columns
// are as wide as what is in them, and ages pass.
func lines(text string) []string {
	var found []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(spaces.ReplaceAllString(line, " "))
		// Two ages side by side share the space between them: hence twice.
		line = ages.ReplaceAllString(ages.ReplaceAllString(line, "${1}~${6}"), "${1}~${6}")
		found = append(found, line)
	}
	return found
}

// matchLines says whether printed lines are those that are shown.
func matchLines(shown, printed []string) bool {
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if shown[0] == anything {
		for skip := 0; skip <= len(printed); skip++ {
			if matchLines(shown[1:], printed[skip:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && matchLine(shown[0], printed[0]) && matchLines(shown[1:], printed[1:])
}

func matchLine(shown, printed string) bool {
	parts := strings.Split(shown, anything)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(printed)
}
