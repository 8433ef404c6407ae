package main

import (
	"slices"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// unheeded are the parts of the configuration that change nothing here. They are no
// error: what is a kind of the other manager, or of an earlier release, may be there.
func unheeded(c *configv1.Configuration) []string {
	if c.Controller == nil {
		return nil
	}
	var fields []string
	for kind := range c.Controller.GroupKindConcurrency {
		if kind != setKind && kind != groupKind {
			fields = append(fields, "controller.groupKindConcurrency["+kind+"]")
		}
	}
	slices.Sort(fields)
	return fields
}
