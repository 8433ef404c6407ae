//go:build integration

package disaggregatedset

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counting counts what a reconcile reads and writes, and can let a write fail.
type counting struct {
	client.Client
	// mu keeps the slices of a set apart, which are written at the same time.
	mu          sync.Mutex
	lists, gets map[string]int
	writes      []string
	// refuse returns the error of a write, or nil to let it through.
	refuse func(write string) error
	// cut returns the error that comes in place of the answer to a write, or nil.
	cut func(write string) error
}

func newCounting(c client.Client) *counting {
	return &counting{Client: c, lists: map[string]int{}, gets: map[string]int{}}
}

// attempt is one write. It is refused, carried out, or carried out and cut off from
// its answer.
func (c *counting) attempt(verb, name string, write func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := verb + " " + name
	c.writes = append(c.writes, text)
	if c.refuse != nil {
		if err := c.refuse(text); err != nil {
			return err
		}
	}
	err := write()
	if c.cut != nil {
		if lost := c.cut(text); lost != nil {
			return lost
		}
	}
	return err
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gets[fmt.Sprintf("%T", obj)]++
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c *counting) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	c.lists[fmt.Sprintf("%T", list)]++
	return c.Client.List(ctx, list, opts...)
}

func (c *counting) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.attempt("create", obj.GetName(), func() error { return c.Client.Create(ctx, obj, opts...) })
}

func (c *counting) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.attempt("patch", obj.GetName(), func() error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

func (c *counting) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.attempt("delete", obj.GetName(), func() error { return c.Client.Delete(ctx, obj, opts...) })
}

func (c *counting) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	name := ""
	if named, ok := obj.(interface{ GetName() *string }); ok && named.GetName() != nil {
		name = *named.GetName()
	}
	return c.attempt("apply", name, func() error { return c.Client.Apply(ctx, obj, opts...) })
}

func (c *counting) Status() client.SubResourceWriter {
	return &countingStatus{c.Client.Status(), c}
}

type countingStatus struct {
	client.SubResourceWriter
	counting *counting
}

func (s *countingStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.counting.attempt("status", obj.GetName(), func() error { return s.SubResourceWriter.Patch(ctx, obj, patch, opts...) })
}
