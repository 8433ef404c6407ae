package main

import (
	"slices"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// unheeded are the parts of the configuration that change nothing here. They are no
// error: what is a kind of the other manager, or of an earlier release, may be there.
func unheeded(c *configv1.Configuration) []string {
	var fields []string
	if c.GangSchedulingManagement != nil {
		fields = append(fields, "gangSchedulingManagement")
	}
	for gate, on := range c.FeatureGates {
		if on { // those that there are so far are of lws-manager
			fields = append(fields, "featureGates["+gate+"]")
		}
	}
	if c.Controller != nil {
		for kind := range c.Controller.GroupKindConcurrency {
			if kind != setKind {
				fields = append(fields, "controller.groupKindConcurrency["+kind+"]")
			}
		}
	}
	slices.Sort(fields)
	return fields
}
