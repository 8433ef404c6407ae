package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRatiosToTheFloor(t *testing.T) {
	report := Report{Measurements: []Measurement{
		{Phase: "floor create", Seconds: 20},
		{Phase: "floor delete", Seconds: 10},
		{Phase: "bring-up", Seconds: 22},
		{Phase: "rollout", Seconds: 36},
		{Phase: "recovery of one group", Seconds: 2},
		{Phase: "recovery of all groups", Seconds: 33},
		{Phase: "delete", Seconds: 10},
	}}
	report.compare()
	got := map[string]float64{}
	for _, m := range report.Measurements {
		got[m.Phase] = m.Floor
	}
	want := map[string]float64{
		"floor create": 0, "floor delete": 0, "bring-up": 1.1, "rollout": 1.2,
		"recovery of one group": 0, "recovery of all groups": 1.1, "delete": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("times floor (-want +got):\n%s", diff)
	}
}
