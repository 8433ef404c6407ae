//go:build integration

package disaggregatedset

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counting counts what a reconcile reads and writes, and can let a write fail.
type counting struct {
	client.Client
	lists, gets map[string]int
	writes      []string
	// refuse returns the error of a write, or nil to let it through.
	refuse func(write string) error
}

func newCounting(c client.Client) *counting {
	return &counting{Client: c, lists: map[string]int{}, gets: map[string]int{}}
}

func (c *counting) write(verb, name string) error {
	c.writes = append(c.writes, verb+" "+name)
	if c.refuse != nil {
		return c.refuse(verb + " " + name)
	}
	return nil
}

func (c *counting) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c.gets[fmt.Sprintf("%T", obj)]++
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c *counting) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	c.lists[fmt.Sprintf("%T", list)]++
	return c.Client.List(ctx, list, opts...)
}

func (c *counting) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if err := c.write("create", obj.GetName()); err != nil {
		return err
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c *counting) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := c.write("patch", obj.GetName()); err != nil {
		return err
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c *counting) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if err := c.write("delete", obj.GetName()); err != nil {
		return err
	}
	return c.Client.Delete(ctx, obj, opts...)
}

func (c *counting) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	name := ""
	if named, ok := obj.(interface{ GetName() *string }); ok && named.GetName() != nil {
		name = *named.GetName()
	}
	if err := c.write("apply", name); err != nil {
		return err
	}
	return c.Client.Apply(ctx, obj, opts...)
}

func (c *counting) Status() client.SubResourceWriter {
	return &countingStatus{c.Client.Status(), c}
}

type countingStatus struct {
	client.SubResourceWriter
	counting *counting
}

func (s *countingStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := s.counting.write("status", obj.GetName()); err != nil {
		return err
	}
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}
