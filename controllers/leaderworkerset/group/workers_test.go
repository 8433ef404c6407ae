package group

import (
	"testing"
)

// workersCase is one row of a table over leader and worker StatefulSet.
type workersCase struct {
	change func(*workersInput)
	want   workersAction
}

func testWorkers(t *testing.T, decide func(workersInput) workersVerdict, base func() workersInput, tests map[string]workersCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := base()
			if test.change != nil {
				test.change(&in)
			}
			if got := decide(in); got.Action != test.want {
				t.Errorf("%v, want %s", got, test.want)
			}
		})
	}
}

func ownedBy(o owner) func(*workersInput) {
	return func(in *workersInput) { in.Workers.Owner = o }
}

func staying(in *workersInput) { in.Stay = true }

func all(changes ...func(*workersInput)) func(*workersInput) {
	return func(in *workersInput) {
		for _, change := range changes {
			change(in)
		}
	}
}

func workersAtRest() workersInput {
	return workersInput{
		Leader:  makeLeader(3),
		Workers: &workerSet{UID: "workers", Owner: byLeader, Revision: "rev"},
		Set:     "set",
		Desired: true,
	}
}

func none(in *workersInput)        { in.Workers = nil }
func aged(in *workersInput)        { in.LeaderAge = garbagePatience }
func going(in *workersInput)       { in.Workers.Deleting = true }
func otherwise(in *workersInput)   { in.Workers.Revision = "other" }
func alone(in *workersInput)       { in.Leader.Size = 1 }
func gone(in *workersInput)        { in.Leader = nil }
func unwanted(in *workersInput)    { in.Desired = false }
func inParallel(in *workersInput)  { in.Parallel = true }
func outdated(in *workersInput)    { in.Outdated = true }
func whenReady(in *workersInput)   { in.OnReady = true }
func isReady(in *workersInput)     { in.Leader.Ready = true }
func exclusive(in *workersInput)   { in.NeedsDomain = true }
func withoutNode(in *workersInput) { in.Leader.Node = "" }

func TestWorkersOfLiving(t *testing.T) {
	testWorkers(t, workersOfLiving, workersAtRest, map[string]workersCase{
		"at rest":                              {nil, workersKeep},
		"none yet":                             {none, workersCreate},
		"none yet, the policy is None":         {all(none, staying), workersCreate},
		"none for size 1":                      {all(none, alone), workersKeep},
		"none until the leader is ready":       {all(none, whenReady), workersWait},
		"the leader is ready":                  {all(none, whenReady, isReady), workersCreate},
		"none until the leader has a domain":   {all(none, exclusive, withoutNode), workersWait},
		"the leader has a domain":              {all(none, exclusive), workersCreate},
		"being deleted by somebody":            {going, workersWait},
		"left over at size 1":                  {alone, workersDelete},
		"the policy became None":               {staying, workersAdopt},
		"the set's, with None":                 {all(ownedBy(bySet), staying), workersKeep},
		"the policy is None no more":           {ownedBy(bySet), workersAdopt},
		"the set's, of another revision":       {all(ownedBy(bySet), staying, otherwise), workersDelete},
		"robbed of its owner":                  {ownedBy(owner{}), workersAdopt},
		"robbed of its owner, with None":       {all(ownedBy(owner{}), staying), workersAdopt},
		"nobody's, of another revision":        {all(ownedBy(owner{}), otherwise), workersDelete},
		"a predecessor's":                      {ownedBy(byOld), workersDelete},
		"of a set of the name that is gone":    {ownedBy(owner{Kind: setKind.Kind, Name: "set", UID: "old"}), workersDelete},
		"somebody else's":                      {ownedBy(byOther), workersConflict},
		"somebody else's, and it is going too": {all(ownedBy(byOther), going), workersConflict},
	})
}

func TestWorkersAtGate(t *testing.T) {
	base := func() workersInput {
		in := workersAtRest()
		in.Leader.Gated = true
		return in
	}
	testWorkers(t, workersAtGate, base, map[string]workersCase{
		"none":                                   {none, workersKeep},
		"its own":                                {nil, workersKeep},
		"the set's, with None":                   {all(ownedBy(bySet), staying), workersKeep},
		"the set's, with None, being deleted":    {all(ownedBy(bySet), staying, going), workersWait},
		"the set's, with None, another revision": {all(ownedBy(bySet), staying, otherwise), workersDelete},
		"the set's, with None, and size 1 now":   {all(ownedBy(bySet), staying, alone), workersDelete},
		"the set's, and the policy is not None":  {ownedBy(bySet), workersDelete},
		"a predecessor's, at first":              {ownedBy(byOld), workersWait},
		"a predecessor's, for long":              {all(ownedBy(byOld), aged), workersDelete},
		"a predecessor's, with None, for long":   {all(ownedBy(byOld), staying, aged), workersDelete},
		"a predecessor's, being deleted":         {all(ownedBy(byOld), going), workersWait},
		"nobody's":                               {ownedBy(owner{}), workersDelete},
		"somebody else's":                        {ownedBy(byOther), workersConflict},
	})
}

func TestWorkersWithoutLeader(t *testing.T) {
	base := func() workersInput {
		in := workersAtRest()
		gone(&in)
		return in
	}
	testWorkers(t, workersWithoutLeader, base, map[string]workersCase{
		"none":                               {none, workersKeep},
		"the next leader decides":            {nil, workersKeep},
		"the next leader takes over":         {all(ownedBy(bySet), staying), workersKeep},
		"scaled away, garbage":               {all(ownedBy(byOld), unwanted), workersKeep},
		"scaled away, the set's":             {all(ownedBy(bySet), unwanted), workersDelete},
		"scaled away, the set's, going":      {all(ownedBy(bySet), unwanted, going), workersKeep},
		"scaled away, nobody's":              {all(ownedBy(owner{}), unwanted), workersDelete},
		"scaled away, somebody else's":       {all(ownedBy(byOther), unwanted), workersKeep},
		"nobody's, and a leader is to come":  {ownedBy(owner{}), workersKeep},
		"scaled away, of a set that is gone": {all(ownedBy(owner{Kind: setKind.Kind, UID: "old"}), unwanted), workersKeep},
	})
}

func TestWorkersOfEnding(t *testing.T) {
	base := func() workersInput {
		in := workersAtRest()
		deleting(&in.Leader.pod)
		return in
	}
	inForeground := func(in *workersInput) { in.Leader.Foreground = true }
	testWorkers(t, workersOfEnding, base, map[string]workersCase{
		"Sequential":                       {nil, workersKeep},
		"Parallel":                         {inParallel, workersDelete},
		"Parallel, none":                   {all(inParallel, none), workersKeep},
		"Parallel, going already":          {all(inParallel, going), workersKeep},
		"Parallel, in the foreground":      {all(inParallel, inForeground), workersKeep},
		"None, lost":                       {all(inParallel, staying, ownedBy(bySet)), workersKeep},
		"None, scaled away":                {all(inParallel, staying, ownedBy(bySet), unwanted), workersDelete},
		"None, replaced by a rollout":      {all(inParallel, staying, ownedBy(bySet), outdated), workersDelete},
		"None, scaled away, Sequential":    {all(staying, ownedBy(bySet), unwanted), workersKeep},
		"None, in the foreground":          {all(inParallel, staying, ownedBy(bySet), unwanted, inForeground), workersDelete},
		"Parallel, somebody else's":        {all(inParallel, ownedBy(byOther)), workersKeep},
		"Parallel, nobody's, for the next": {all(inParallel, ownedBy(owner{})), workersKeep},
		"Parallel, a predecessor's":        {all(inParallel, ownedBy(byOld)), workersKeep},
	})
}

// Whoever owns the worker StatefulSet, a leader past its gate never creates beside
// one that exists, and never deletes one that is its own.
func TestWorkersOfLivingNeverHurtsItsOwn(t *testing.T) {
	for _, o := range []owner{byLeader, bySet, byOld, byOther, {}} {
		for _, stay := range []bool{false, true} {
			for _, is := range []bool{false, true} {
				in := workersAtRest()
				in.Workers.Owner, in.Stay, in.Workers.Deleting = o, stay, is
				got := workersOfLiving(in)
				if got.Action == workersCreate {
					t.Errorf("%v, stay %v, deleting %v: creates a second one", o, stay, is)
				}
				if got.Action == workersDelete && o == byLeader {
					t.Errorf("stay %v, deleting %v: deletes its own", stay, is)
				}
			}
		}
	}
}
