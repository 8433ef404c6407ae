package leaderworkerset

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/managers"
)

// viewer is a user with the role view in the namespace of a scenario, and no other.
const viewer = "viewer"

// letView gives the viewer the role view, to which that of sets is aggregated.
func (s *scenario) letView() {
	GinkgoHelper()
	Expect(s.env.Client.Create(s.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: viewer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: viewer}},
	})).To(Succeed())
}

// kubectl runs kubectl, and its plugins, in the namespace of the scenario.
func (s *scenario) kubectl(args ...string) (out, errs string) {
	GinkgoHelper()
	checkout, err := managers.Checkout()
	Expect(err).NotTo(HaveOccurred())
	bin := s.env.Cluster.BinDir()
	command := exec.CommandContext(s.ctx, filepath.Join(bin, "kubectl"), append(args, "-n", s.namespace)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.env.Cluster.Kubeconfig(),
		"PATH="+bin+":"+managers.ProgramDir(checkout)+":"+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		stderr.WriteString(err.Error())
	}
	return stdout.String(), stderr.String()
}

// asks is what the plugin tells the viewer.
func (s *scenario) asks(args ...string) string {
	GinkgoHelper()
	told := s.asksNow(args...)
	GinkgoWriter.Printf("$ kubectl lws %s\n%s\n", strings.Join(args, " "), told)
	return told
}

func (s *scenario) asksNow(args ...string) string {
	GinkgoHelper()
	out, errs := s.kubectl(append(append([]string{"lws"}, args...), "--as", viewer)...)
	Expect(errs).To(BeEmpty(), "kubectl lws %v", args)
	return out
}

// awaitTold asks until the plugin tells something.
func (s *scenario) awaitTold(what types.GomegaMatcher, args ...string) string {
	GinkgoHelper()
	var told string
	Eventually(func() string {
		told = s.asksNow(args...)
		return told
	}).WithTimeout(patience).Should(what, "kubectl lws %v", args)
	GinkgoWriter.Printf("$ kubectl lws %s\n%s\n", strings.Join(args, " "), told)
	return told
}

var _ = Describe("kubectl lws", func() {
	It("says why a group is gated, and whose finalizer holds it", func() {
		s := begin()
		s.letView()
		name := s.up(newSet("gated").Replicas(2).Size(2))
		Expect(s.asks("status", name)).To(And(
			ContainSubstring("2 of 2 groups ready"),
			MatchRegexp(`(?m)^1 +ready +gated-1 +\S+ +\S+ +1/1 +0 +\S+$`),
			MatchRegexp(`Available +True +AllGroupsReady`),
		))
		Expect(s.asks("why", name)).To(Equal("LeaderWorkerSet " + s.namespace + "/gated is Available: All groups are ready\n"))

		s.patch(&corev1.Pod{}, "gated-1-1", `{"metadata":{"finalizers":["example.com/keep"]}}`)
		s.removePod("gated-1")
		s.awaitTold(MatchRegexp(`(?m)^Group 1 is gated, for \S+: waits for pod gated-1-1 on node \S+, which is held by the finalizer example\.com/keep$`), "why", name)
		Expect(s.asks("why", name)).NotTo(ContainSubstring("Group 0"))
		Expect(s.asks("why", name, "0")).To(Equal("Group 0 is ready\n"))
		Expect(s.asks("why", name, "gated-1")).To(HavePrefix("Group 1 is gated"))
		Expect(s.asks("status", name)).To(MatchRegexp(`(?m)^1 +gated +gated-1 +- `))

		s.patch(&corev1.Pod{}, "gated-1-1", `{"metadata":{"finalizers":null}}`)
		s.awaitAvailable(name)
		s.awaitTold(ContainSubstring("2 of 2 groups ready"), "status", name)
	})

	It("gives the command that starts a stopped group again", func() {
		s := begin()
		s.letView()
		name := s.up(newSet("spent").Replicas(2).Size(2).MaxGroupRestarts(0))
		Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, "spent-1-1", "worker")).To(Succeed())
		s.awaitSet(name, "is degraded", func(set *lwsv1.LeaderWorkerSet) bool { return isTrue(set, lwsv1.ConditionDegraded) })
		told := s.awaitTold(MatchRegexp(`Group 1 is exhausted.*: kubectl annotate`), "why", name)
		Expect(s.asks("status", name)).To(MatchRegexp(`(?m)^1 +exhausted +spent-1 .* 0/0 `))

		command := regexp.MustCompile(`kubectl (annotate .*)`).FindStringSubmatch(told)
		Expect(command).To(HaveLen(2), told)
		_, errs := s.kubectl(strings.Fields(command[1])...)
		Expect(errs).To(BeEmpty(), command[1])
		s.awaitRecreated(name, "spent-1", "spent-1-1")
		s.awaitAvailable(name)
		s.awaitTold(HavePrefix("LeaderWorkerSet "+s.namespace+"/spent is Available"), "why", name)
	})

	It("repeats what the scheduler says", func() {
		s := begin()
		s.letView()
		pods := template("worker")
		pods.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"example.com/quark": resource.MustParse("1")}
		s.create(newSet("narrow").Size(2).LeaderTemplate(template("leader")).WorkerTemplate(pods))
		s.awaitTold(MatchRegexp(`Group 0 is unschedulable, for \S+: pod narrow-0-1 cannot be scheduled: .*Insufficient example\.com/quark`), "why", "narrow")
		var status struct {
			Groups []struct {
				State                 string `json:"state"`
				Workers, WorkersReady int
			} `json:"groups"`
		}
		Expect(json.Unmarshal([]byte(s.asks("status", "narrow", "-o", "json")), &status)).To(Succeed())
		Expect(status.Groups).To(HaveLen(1))
		Expect(status.Groups[0].State).To(Equal("unschedulable"))
		Expect(status.Groups[0].Workers).To(Equal(1))
	})

	It("previews what then happens", func() {
		s := begin()
		s.letView()
		name := s.up(newSet("foreseen").Replicas(4).Size(2).MaxUnavailable("1").MaxSurge("1").Partition(1))
		file := s.manifest(name, image(better))

		told := s.asks("preview", "-f", file)
		AddReportEntry("preview", told)
		Expect(told).To(ContainSubstring("a rollout from revision"))
		var foreseen []string
		for _, step := range regexp.MustCompile(`replace ((?:\d+ )*\d+)(?:,| {3})`).FindAllStringSubmatch(told, -1) {
			for _, index := range strings.Fields(step[1]) {
				foreseen = append(foreseen, name+"-"+index)
			}
		}
		extremes := regexp.MustCompile(`Lowest ready (\d), highest existing (\d)`).FindStringSubmatch(told)
		Expect(extremes).To(HaveLen(3), told)
		Expect(s.asks("history", name)).To(MatchRegexp(`(?m)^1 +\S+ \(spec\) +\S+ +0,1,2,3 `), "nothing was written")

		mark := s.History().Mark()
		s.settle(name, image(better))
		s.awaitPods(name, podNames(name, 4, 2)...)
		var replaced []string
		for _, leader := range s.History().Replaced(name, mark) {
			if leader != name+"-4" { // surge
				replaced = append(replaced, leader)
			}
		}
		Expect(replaced).To(Equal(foreseen))
		e := s.History().Extremes(name, mark)
		Expect([]string{extremes[1], extremes[2]}).To(Equal([]string{string(rune('0' + e.MinReady)), string(rune('0' + e.MaxExisting))}),
			"ready groups went %v", e.Readies)
		Expect(s.asks("preview", "-f", file)).To(ContainSubstring("no rollout, the manifest means the same as revision"))

		By("going back by what history prints")
		older, errs := s.kubectl("lws", "history", name, "--revision", "1")
		Expect(errs).To(BeEmpty())
		file = filepath.Join(GinkgoT().TempDir(), "older.yaml")
		Expect(os.WriteFile(file, []byte(older), 0o600)).To(Succeed())
		Expect(s.asks("preview", "-f", file)).To(ContainSubstring("back to"))
		_, errs = s.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
		Expect(errs).To(BeEmpty())
		s.awaitObserved(name)
		s.awaitAvailable(name)
		Expect(s.asks("history", name)).To(MatchRegexp(`(?m)^3 +\S+ \(spec\) +\S+ +0,1,2,3 `))
	})

	It("says what would be right", func() {
		s := begin()
		s.letView()
		_, errs := s.kubectl("lws", "why", "nobody", "--as", viewer)
		Expect(errs).To(ContainSubstring("there is no LeaderWorkerSet nobody in namespace " + s.namespace))
		_, errs = s.kubectl("lws", "status", "nobody", "--as", "stranger")
		Expect(errs).To(And(ContainSubstring("nobody"), ContainSubstring(`"stranger" cannot get resource "leaderworkersets"`)))
	})
})

// manifest is the file of a set as somebody has it who is about to change it.
func (s *scenario) manifest(name string, change func(*lwsv1.LeaderWorkerSet)) string {
	GinkgoHelper()
	set := &lwsv1.LeaderWorkerSet{}
	s.get(name, set)
	set.SetGroupVersionKind(lwsv1.GroupVersion.WithKind(lwsv1.Kind))
	set.ManagedFields = nil
	change(set)
	text, err := json.Marshal(set)
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), "set.json")
	Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	return file
}

var _ = Describe("kubectl lws of a Hash set", func() {
	It("names groups by their keys, and says which stopped group a gated one replaces", func() {
		s := begin()
		s.letView()
		name := s.up(newSet("keyed").Hash().Replicas(2).Size(2).MaxGroupRestarts(0))
		groups := s.awaitGroups(name, 2, 2)
		told := s.asks("status", name)
		key := ""
		for key = range groups {
			Expect(told).To(MatchRegexp(`(?m)^%s +ready +keyed-\S+ +\S+ +\S+ +1/1 +0/0 `, key[:8]))
		}
		s.restartWorker(name, key)
		told = s.awaitTold(And(
			MatchRegexp(`(?m)^Group %s is exhausted, for \S+: .*kubectl annotate pod keyed-\S+ `, key[:8]),
			MatchRegexp(`(?m)^Group \w{8} is gated, for \S+: waits for group %s, whose restart budget is spent`, key),
		), "why", name)
		Expect(s.asks("why", name, key[:8])).To(HavePrefix("Group " + key[:8] + " is exhausted"))

		command := regexp.MustCompile(`kubectl (annotate .*)`).FindStringSubmatch(told)
		Expect(command).To(HaveLen(2), told)
		_, errs := s.kubectl(strings.Fields(command[1])...)
		Expect(errs).To(BeEmpty(), command[1])
		s.awaitAvailable(name)

		file := s.manifest(name, image(better))
		Expect(s.asks("preview", "-f", file)).To(And(
			ContainSubstring("Deployment keyed replaces 2 groups in an order of its own"),
			ContainSubstring("Lowest ready 1, highest existing 2"),
		))
	})
})
