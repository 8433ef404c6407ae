package group

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// The group of the tests: number 3 of set "set" of UID "set", made by the leader
// StatefulSet "leaders", with a worker StatefulSet of UID "workers".
var (
	testGroup = identity.Group{Namespace: "ns", Set: "set", Index: "3"}
	testStart = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
)

const testName = "set-3"

// Owners of worker pods and worker StatefulSets.
var (
	byLeader  = owner{Kind: kindPod, Name: testName, UID: "leader"}
	bySet     = owner{Kind: setKind.Kind, Name: "set", UID: "set"}
	byOld     = owner{Kind: kindPod, Name: testName, UID: "old-leader"}
	byWorkers = owner{Kind: kindStatefulSet, Name: testName, UID: "workers"}
	byOldSet  = owner{Kind: kindStatefulSet, Name: testName, UID: "old-workers"}
	byOther   = owner{Kind: "Operator.example.com", Name: "x", UID: "x"}
)

type podOption func(*pod)

func makePod(name string, index int32, options ...podOption) pod {
	p := pod{
		Name: name, UID: types.UID(name), Index: index, Controller: byWorkers,
		Phase: corev1.PodRunning, Scheduling: placed, Created: testStart, Node: "node",
	}
	for _, option := range options {
		option(&p)
	}
	return p
}

// worker is a running worker of the living generation.
func worker(index int32, options ...podOption) pod {
	return makePod(identity.WorkerName(testName, index), index, options...)
}

// makeLeader is a running leader past its gate, of a group of the given size.
func makeLeader(size int32, options ...podOption) *leader {
	p := makePod(testName, 0, options...)
	if p.UID == types.UID(testName) {
		p.UID = "leader"
	}
	return &leader{pod: p, Size: size, Revision: "rev", PodRevision: "pods-rev", GroupKey: "key", Controlled: true}
}

func withUID(uid types.UID) podOption { return func(p *pod) { p.UID = uid } }
func by(controller owner) podOption   { return func(p *pod) { p.Controller = controller } }
func phase(phase corev1.PodPhase) podOption {
	return func(p *pod) { p.Phase = phase }
}

func deleting(p *pod) { p.Deleting, p.Deadline = true, testStart.Add(30*time.Second) }
func retained(p *pod) { p.Retained = true }
func unplaced(p *pod) {
	p.Phase, p.Node, p.Scheduling, p.Scheduler = corev1.PodPending, "", unschedulable, "0/3 nodes are available"
}

func createdAfter(d time.Duration) podOption {
	return func(p *pod) { p.Created = testStart.Add(d) }
}

func restarted(container string, count int32) podOption {
	return func(p *pod) { p.Restarts = append(p.Restarts, restarts{Container: container, Count: count}) }
}

func restartedBy(r restarts) podOption {
	return func(p *pod) { p.Restarts = append(p.Restarts, r) }
}

// group is a living generation of a leader and workers 1, 2 ….
func group(options ...[]podOption) *generation {
	g := &generation{Leader: makeLeader(int32(len(options)), options[0]...)}
	for i, of := range options[1:] {
		g.Workers = append(g.Workers, worker(int32(i+1), of...))
	}
	return g
}

func with(options ...podOption) []podOption { return options }

// remembered is the memory of a group whose workers have these UIDs.
func remembered(uids ...types.UID) *memory {
	g := &generation{Leader: makeLeader(int32(len(uids) + 1))}
	for i, uid := range uids {
		g.Workers = append(g.Workers, worker(int32(i+1), withUID(uid)))
	}
	return remember(g)
}

// observed is an observation of a set with 5 groups of size 3 at rest: its group is
// whole and remembered.
func observed(change ...func(*observation)) *observation {
	o := &observation{
		Group: testGroup,
		Now:   testStart.Add(time.Hour),
		Set:   &setFacts{UID: "set", Policy: lwsv1.RecreateGroupOnPodRestart},
		Leaders: &leadersFacts{
			UID: "leaders", Owner: owner{Kind: setKind.Kind, Name: "set", UID: "set"}, Replicas: 5,
			UpdateRevision: "rev", CurrentRevision: "pods-rev",
		},
		Leader:  makeLeader(3),
		Workers: &workerSet{UID: "workers", Owner: byLeader, Revision: "rev"},
		workers: &appsv1.StatefulSet{},
	}
	o.Living = generation{Leader: o.Leader, Workers: []pod{worker(1), worker(2)}}
	o.Leader.Memory = remember(&o.Living)
	for _, c := range change {
		c(o)
	}
	o.Living.Leader = o.Leader
	return o
}

// names of steps, for comparing plans.
func names(steps []step) []string {
	var texts []string
	for _, s := range steps {
		text := fmt.Sprintf("%T", s)[len("group."):]
		switch s := s.(type) {
		case annotateLeader:
			text += " " + s.Key[len(lwsv1.KeyPrefix):]
			if s.Remove {
				text += " remove"
			}
		case retainPod:
			text += " " + s.Pod.Name
		case releasePod:
			text += " " + s.Pod.Name
		case deletePod:
			text += " " + s.Pod.Name
		case deleteWorkers:
			text += " " + string(s.UID)
		case adoptWorkers:
			text += " to " + string(s.Owner.UID)
		case setReadiness:
			text += fmt.Sprintf(" %t", s.Ready)
		case deleteLeader:
			text += " " + string(s.Leader.UID)
		}
		texts = append(texts, text)
	}
	return texts
}
