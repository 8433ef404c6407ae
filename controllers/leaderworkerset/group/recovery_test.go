package group

import "testing"

func TestDecideExhausted(t *testing.T) {
	tests := map[string]struct {
		in   exhaustedInput
		want exhaustedAction
	}{
		"waits":                              {exhaustedInput{Desired: true}, exhaustedRetain},
		"waits, with its count":              {exhaustedInput{Desired: true, Counted: true}, exhaustedRetain},
		"recovery clears the count first":    {exhaustedInput{Desired: true, Counted: true, Recover: true}, exhaustedClear},
		"recovery":                           {exhaustedInput{Desired: true, Recover: true}, exhaustedRecover},
		"scaled away":                        {exhaustedInput{Counted: true}, exhaustedCleanUp},
		"scaled away while it recovers":      {exhaustedInput{Counted: true, Recover: true}, exhaustedCleanUp},
		"replaced by a rollout":              {exhaustedInput{Desired: true, Outdated: true}, exhaustedCleanUp},
		"replaced by a rollout, not counted": {exhaustedInput{Desired: true, Outdated: true, Recover: true}, exhaustedCleanUp},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := decideExhausted(test.in); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
