package main

import (
	"fmt"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// wrongSplits are the DisaggregatedSets that are not Available, and what they have
// besides what they are to have.
func (t *traffic) wrongSplits(w *world) []string {
	var found []string
	for i := range w.splits {
		set := &w.splits[i]
		if !t.split.exists[set.Name] {
			found = append(found, "DisaggregatedSet "+set.Name+" was deleted and is there")
			continue
		}
		if text := availability(set.Status.Conditions, set.Generation); text != "" {
			found = append(found, "DisaggregatedSet "+set.Name+" "+text)
			continue
		}
		found = append(found, t.wrongParts(w, set)...)
	}
	if len(w.splits) != len(t.split.exists) {
		found = append(found, fmt.Sprintf("%d DisaggregatedSets, %d were to be there", len(w.splits), len(t.split.exists)))
	}
	return found
}

// wrongParts compares what a set that is Available has with its spec: one
// LeaderWorkerSet and one Service for each role in each slice, of one revision, and a
// scaler for each role that is scaled from outside. A role that is scaled to zero is
// absent, by wish, and need not have any.
func (t *traffic) wrongParts(w *world, set *dsv1.DisaggregatedSet) []string {
	needed := map[string]bool{}
	for i := range set.Spec.Roles {
		role := &set.Spec.Roles[i]
		runs := true
		if dsv1.IsExternal(role) {
			scaler := set.Name + "-" + role.Name
			runs = w.scalers[scaler] > 0
			needed[kindScaler+scaler] = true
		}
		for slice := range dsv1.Slices(set) {
			name := fmt.Sprintf("%s-%d-%s-%s", set.Name, slice, set.Status.CurrentRevision, role.Name)
			needed[kindSet+name], needed[kindService+name+"-prv"] = runs, runs
		}
	}
	var found []string
	for _, l := range w.labelled {
		if _, known := needed[l.object]; l.split == set.Name && l.set == "" && !known {
			found = append(found, l.object+" is none of DisaggregatedSet "+set.Name)
		}
		delete(needed, l.object)
	}
	for object, isNeeded := range needed {
		if isNeeded {
			found = append(found, object+" of DisaggregatedSet "+set.Name+" is missing")
		}
	}
	return found
}
