package leaderworkerset

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

var _ = Describe("The longest name", func() {
	// named is a set whose name has a length.
	named := func(length int) *lwstest.Builder { return newSet(strings.Repeat("n", length)) }

	DescribeTable("works, and the next is refused",
		func(longest int, shape func(*lwstest.Builder) *lwstest.Builder, replicas, size int) {
			s := begin()
			err := s.env.Client.Create(s.ctx, shape(named(longest+1)).Replicas(int32(replicas)).Size(int32(size)).Namespace(s.namespace).Obj())
			expectRefusal(err, "name")
			name := s.create(shape(named(longest)).Replicas(int32(replicas)).Size(int32(size))).Name
			s.awaitAvailable(name)
			s.awaitPods(name, podNames(name, replicas, size)...)
		},
		// 52 = 63 less the 11 characters of a revision label.
		Entry("of leaders alone", 52, plain, 1, 1),
		Entry("with workers", 50, plain, 1, 2),
		Entry("with a Service for each group", 50, func(b *lwstest.Builder) *lwstest.Builder {
			return b.SubdomainPolicy(lwsv1.SubdomainUniquePerReplica)
		}, 1, 2),
		Entry("with eleven groups", 49, plain, 11, 2),
		Entry("with a tenth group that is surge", 49, func(b *lwstest.Builder) *lwstest.Builder {
			return b.MaxSurge("1").MaxUnavailable("0")
		}, 10, 2),
	)

	It("does not grow beyond what works", func() {
		s := begin()
		name := s.create(named(50).Replicas(10).Size(2)).Name
		err := s.tryChange(name, func(set *lwsv1.LeaderWorkerSet) client.Object {
			replicas(11)(set)
			return set
		})
		expectRefusal(err, "name")
		s.awaitAvailable(name)
	})
})

func plain(set *lwstest.Builder) *lwstest.Builder { return set }
