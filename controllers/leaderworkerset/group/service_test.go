package group

import "testing"

func TestDecideService(t *testing.T) {
	good := ownService{UID: "service", Owner: byLeader, AsDesired: true}
	change := func(c func(*ownService)) *ownService {
		s := good
		c(&s)
		return &s
	}
	tests := map[string]struct {
		shared bool
		s      *ownService
		want   serviceVerdict
	}{
		"the shared one serves":       {true, nil, serviceKeep},
		"none yet":                    {false, nil, serviceCreate},
		"as desired":                  {false, &good, serviceKeep},
		"changed by somebody":         {false, change(func(s *ownService) { s.AsDesired = false }), serviceApply},
		"being deleted":               {false, change(func(s *ownService) { s.Deleting = true }), serviceWait},
		"robbed of its owner":         {false, change(func(s *ownService) { s.Owner = owner{} }), serviceApply},
		"a predecessor's":             {false, change(func(s *ownService) { s.Owner = byOld }), serviceDelete},
		"a predecessor's, going":      {false, change(func(s *ownService) { s.Owner, s.Deleting = byOld, true }), serviceWait},
		"somebody else's":             {false, change(func(s *ownService) { s.Owner = byOther }), serviceConflict},
		"the set's is not a leader's": {false, change(func(s *ownService) { s.Owner = bySet }), serviceConflict},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := makeLeader(3)
			l.OwnService = !test.shared
			if got := decideService(l, test.s); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
