package harness

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/e2e/managers"
)

// Permission is one verb on one kind that a manager may use. Name is the only object
// that it is for, Namespace the only namespace; empty is any.
type Permission struct {
	Verb, Group, Kind, Name, Namespace string
}

// String is how the permission reads in a role.
func (p Permission) String() string {
	text := p.Verb + " " + p.Kind
	if p.Group != "" {
		text += "." + p.Group
	}
	if p.Name != "" {
		text += " " + p.Name
	}
	if p.Namespace != "" {
		text += " in " + p.Namespace
	}
	return text
}

// allows tells whether the permission is what lets a request pass.
func (p Permission) allows(r Request) bool {
	return p.Verb == r.Verb && p.Group == r.Group && p.Kind == r.Kind() &&
		(p.Name == "" || p.Name == r.Name) && (p.Namespace == "" || p.Namespace == r.Namespace)
}

// Granted are the permissions of a manager, as the cluster has them.
func (e *Environment) Granted(ctx context.Context, shipped managers.Shipped) ([]Permission, error) {
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: shipped.Namespace, Name: shipped.ServiceAccount}
	var everywhere rbacv1.ClusterRoleBindingList
	if err := e.Client.List(ctx, &everywhere); err != nil {
		return nil, fmt.Errorf("permissions of %s: %w", shipped.Name, err)
	}
	var here rbacv1.RoleBindingList
	if err := e.Client.List(ctx, &here); err != nil {
		return nil, fmt.Errorf("permissions of %s: %w", shipped.Name, err)
	}
	var granted []Permission
	add := func(subjects []rbacv1.Subject, role rbacv1.RoleRef, namespace string) error {
		if !slices.Contains(subjects, subject) {
			return nil
		}
		rules, err := e.rules(ctx, role, namespace)
		if err != nil {
			return fmt.Errorf("permissions of %s: %w", shipped.Name, err)
		}
		granted = append(granted, spread(rules, namespace)...)
		return nil
	}
	for _, binding := range everywhere.Items {
		if err := add(binding.Subjects, binding.RoleRef, ""); err != nil {
			return nil, err
		}
	}
	for _, binding := range here.Items {
		if err := add(binding.Subjects, binding.RoleRef, binding.Namespace); err != nil {
			return nil, err
		}
	}
	return granted, nil
}

func (e *Environment) rules(ctx context.Context, role rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	if role.Kind == "ClusterRole" {
		found := &rbacv1.ClusterRole{}
		err := e.Client.Get(ctx, client.ObjectKey{Name: role.Name}, found)
		return found.Rules, err
	}
	found := &rbacv1.Role{}
	err := e.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: role.Name}, found)
	return found.Rules, err
}

// spread makes one permission of each combination in rules.
func spread(rules []rbacv1.PolicyRule, namespace string) []Permission {
	var permissions []Permission
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, kind := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						permissions = append(permissions, Permission{
							Verb: verb, Group: group, Kind: kind, Name: name, Namespace: namespace,
						})
					}
				}
			}
		}
	}
	return permissions
}

// ComparePermissions tells which permissions no request needed, and which requests
// were refused or needed a permission that was not granted by the roles. Who may
// watch a kind needs to list it as well, though a new API server streams the list.
func ComparePermissions(granted []Permission, requests []Request) (unused, beyond []string) {
	used := map[Permission]bool{}
	for _, r := range requests {
		known := false
		for _, permission := range granted {
			if permission.allows(r) {
				used[permission], known = true, true
			}
		}
		if text := fmt.Sprintf("%s.%s %s/%s: %d", r, r.Group, r.Namespace, r.Name, r.Code); (!known || r.IsForbidden()) && !slices.Contains(beyond, text) {
			beyond = append(beyond, text)
		}
	}
	for _, permission := range granted {
		streamed := permission
		streamed.Verb = "watch"
		if !used[permission] && !(permission.Verb == "list" && used[streamed]) {
			unused = append(unused, permission.String())
		}
	}
	return unused, beyond
}
