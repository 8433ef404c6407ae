package leaderworkerset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

func TestServiceUse(t *testing.T) {
	shared, err := revision.New(testSet().Obj(), nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := revision.New(testSet().SubdomainPolicy(lwsv1.SubdomainUniquePerReplica).Obj(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sharedKey, ownKey := revision.Key(shared), revision.Key(own)
	tests := map[string]struct {
		policy          lwsv1.SubdomainPolicy
		update, current string
		groups          []groupState
		want            bool
	}{
		"shared":                       {policy: lwsv1.SubdomainShared, update: sharedKey, current: sharedKey, want: true},
		"own":                          {policy: lwsv1.SubdomainUniquePerReplica, update: ownKey, current: ownKey, groups: []groupState{{}}},
		"own, a group still shares":    {policy: lwsv1.SubdomainUniquePerReplica, update: ownKey, current: ownKey, groups: []groupState{{}, {SharesService: true}}, want: true},
		"own, and a group may go back": {policy: lwsv1.SubdomainUniquePerReplica, update: ownKey, current: sharedKey, groups: []groupState{{}}, want: true},
		"own, and goes back to own":    {policy: lwsv1.SubdomainUniquePerReplica, update: "new", current: ownKey, groups: []groupState{{}}},
		"own, current is unknown":      {policy: lwsv1.SubdomainUniquePerReplica, update: ownKey, current: "gone", groups: []groupState{{}}},
		"shared, groups have their own": {
			policy: lwsv1.SubdomainShared, update: sharedKey, current: ownKey, groups: []groupState{{}}, want: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seen := &observation{
				Set:       testSet().SubdomainPolicy(tc.policy).Obj(),
				Groups:    tc.groups,
				Revisions: []*appsv1.ControllerRevision{shared, own},
			}
			if got := isServiceUsed(seen, tc.update, tc.current); got != tc.want {
				t.Errorf("used: %t, want %t", got, tc.want)
			}
		})
	}
}
