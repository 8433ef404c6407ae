//go:build integration

package group

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// counting is the client of the manager, with its writes noted down.
func (w *world) counting(c client.WithWatch) client.Client {
	before := func(verb string, obj any) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		text := verb + " " + describe(obj)
		if w.fail != nil {
			if err := w.fail(text); err != nil {
				return err
			}
		}
		w.writes = append(w.writes, text)
		return nil
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := before("create", obj); err != nil {
				return err
			}
			return c.Create(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := before("patch", obj); err != nil {
				return err
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if err := before("apply", obj); err != nil {
				return err
			}
			return c.Apply(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if err := before("delete", obj); err != nil {
				return err
			}
			return c.Delete(ctx, obj, opts...)
		},
	})
}

func (w *world) readingLive(c client.WithWatch) client.Reader {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			w.mu.Lock()
			w.reads = append(w.reads, "get "+describe(obj)+key.Name)
			w.mu.Unlock()
			return c.Get(ctx, key, obj, opts...)
		},
	})
}

func describe(obj any) string {
	switch obj := obj.(type) {
	case client.Object:
		kind := fmt.Sprintf("%T", obj)
		return kind[strings.LastIndexByte(kind, '.')+1:] + " " + obj.GetName()
	case interface {
		GetKind() *string
		GetName() *string
	}:
		return *obj.GetKind() + " " + *obj.GetName()
	}
	return fmt.Sprintf("%T", obj)
}

// wrote returns the writes of the manager since the last call.
func (w *world) wrote() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	writes := w.writes
	w.writes, w.reads = nil, nil
	return writes
}
