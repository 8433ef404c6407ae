package main

import "testing"

func TestHasGangs(t *testing.T) {
	for version, want := range map[string]bool{
		"": true, "1.37": true, "v1.37.2": true, "1.40": true,
		"1.36": false, "1.34.4": false, "1.x": false,
	} {
		if got := hasGangs(version); got != want {
			t.Errorf("hasGangs(%q) is %v, want %v", version, got, want)
		}
	}
}
