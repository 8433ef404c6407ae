package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Exceptions are what the manager of a suite does that looks like a fault and is none,
// each with the reason. What chance decides has to be among them: a suite is judged
// once, at its end.
type Exceptions struct {
	// Errors are texts in errors of the log that specs bring about, beside those that
	// any spec may.
	Errors map[string]string
	// Unseen are permissions that the manager needs and no request shows.
	Unseen map[string]string
	// IsElsewhere tells which permissions another suite shows the need of.
	IsElsewhere func(permission string) bool
}

// usualErrors are texts in errors that any spec may bring about.
var usualErrors = map[string]string{
	"because it is being terminated": "specs end their namespaces with sets in them",
	"namespaces … not found":         "the same, a moment later",
	"context canceled":               "specs stop the manager, which drops what it was doing, before it says that it stops",
	"Informer to sync":               "the same, while it starts; one that never has its caches is never ready",
	"http: TLS handshake error":      "clients of the webhooks go away",
	"context deadline exceeded":      "a busy machine answers late; one that never answers fails its spec",
	"Error retrieving lease lock":    "the same; a manager that loses its lease ends, which specs notice",
	"Failed to update lease":         "the same",
}

// Judge looks back at what the manager did in all its lives, and tells all that it
// should not have done: errors in its log, requests beyond its roles and, if all specs
// of a suite ran, permissions that were not needed.
func (e *Environment) Judge(ctx context.Context, isWhole bool, except Exceptions) ([]string, error) {
	failed, err := e.Manager.logErrors()
	if err != nil {
		return nil, err
	}
	granted, err := e.Granted(ctx, e.Manager.installed.Shipped)
	if err != nil {
		return nil, err
	}
	requests, err := e.Audit(e.Manager.installed.Shipped).Next()
	if err != nil {
		return nil, err
	}
	unused, beyond := ComparePermissions(granted, requests)
	if !isWhole {
		unused = nil
	}
	return except.findings(failed, unused, beyond), nil
}

// findings are what is left without the exceptions, as sentences.
func (x Exceptions) findings(failed map[string]int, unused, beyond []string) []string {
	var found []string
	for _, text := range slices.Sorted(maps.Keys(failed)) {
		if !hasOneOf(text, usualErrors) && !hasOneOf(text, x.Errors) {
			found = append(found, fmt.Sprintf("%d times in the log: %s", failed[text], text))
		}
	}
	for _, request := range beyond {
		found = append(found, "a request without a permission: "+request)
	}
	for _, permission := range unused {
		if x.Unseen[permission] == "" && (x.IsElsewhere == nil || !x.IsElsewhere(permission)) {
			found = append(found, "a permission without a request: "+permission)
		}
	}
	return found
}

func hasOneOf(text string, parts map[string]string) bool {
	for part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
