package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/lws/e2e/harness"
)

// auditLog reads how often one user called the API server since it was last asked.
type auditLog struct {
	lines harness.Lines
	user  string
}

// auditEvent is the part of audit.k8s.io/v1 Event that is counted.
type auditEvent struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		APIGroup    string `json:"apiGroup"`
		Name        string `json:"name"`
	} `json:"objectRef"`
}

// Requests counts requests by "verb resource[/subresource]". A write to an object
// that bears the set's own name has " (set)" behind it.
type Requests map[string]int

// Next returns the requests since the last call.
func (a *auditLog) Next() (Requests, error) {
	requests := Requests{}
	err := a.lines.Next(func(line []byte) error { return requests.add(line, a.user) })
	if err != nil {
		return nil, fmt.Errorf("the audit log: %w", err)
	}
	return requests, nil
}

func (r Requests) add(line []byte, user string) error {
	var event auditEvent
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("line %q: %w", line, err)
	}
	if event.Stage != "ResponseComplete" || event.User.Username != user {
		return nil
	}
	resource := event.ObjectRef.Resource
	if event.ObjectRef.Subresource != "" {
		resource += "/" + event.ObjectRef.Subresource
	}
	if resource == "" {
		resource = "(discovery)"
	}
	if event.ObjectRef.Name == setName && slices.Contains(writeVerbs, event.Verb) {
		resource += ofSet
	}
	r[event.Verb+" "+resource]++
	return nil
}

const ofSet = " (set)"

var (
	groupObjects = []string{"pods", "statefulsets", "services"}
	setObjects   = []string{"leaderworkersets", "controllerrevisions"}
	writeVerbs   = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// Writes counts writes to the objects of groups, to those of the set, and others:
// events and leases. What asks the API server about somebody's rights writes nothing.
func (r Requests) Writes() (group, set, other int) {
	for key, count := range r {
		verb, resource, _ := strings.Cut(key, " ")
		if !slices.Contains(writeVerbs, verb) {
			continue
		}
		base, _, _ := strings.Cut(resource, "/")
		switch {
		case strings.HasSuffix(resource, ofSet), slices.Contains(setObjects, base):
			set += count
		case slices.Contains(groupObjects, base):
			group += count
		case base == "tokenreviews" || base == "subjectaccessreviews":
		default:
			other += count
		}
	}
	return group, set, other
}

// Keys lists the requests in a fixed order.
func (r Requests) Keys() []string { return slices.Sorted(maps.Keys(r)) }
