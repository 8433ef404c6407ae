package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// auditLog reads how often one user called the API server since it was last asked.
type auditLog struct {
	path   string
	user   string
	offset int64
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

// Next returns the requests since the last call. A line that is still being
// written is left for the next one.
func (a *auditLog) Next() (Requests, error) {
	file, err := os.Open(a.path)
	if err != nil {
		return nil, fmt.Errorf("the audit log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(a.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("the audit log %s: %w", a.path, err)
	}
	requests := Requests{}
	for lines := bufio.NewReaderSize(file, 1<<20); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the audit log %s: %w", a.path, err)
		}
		a.offset += int64(len(line))
		if err := requests.add(line, a.user); err != nil {
			return nil, fmt.Errorf("the audit log %s: %w", a.path, err)
		}
	}
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
