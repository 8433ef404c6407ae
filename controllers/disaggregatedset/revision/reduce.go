package revision

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
)

// shape says what an object of some kind has that means nothing.
type shape struct {
	// defaults are values that mean the same as none.
	defaults map[string]any
	// dropped are fields that never mean anything.
	dropped []string
	// objects and lists are the shapes of fields, and of the items of lists. An
	// object that is empty in the end goes, if it is among empties.
	objects map[string]*shape
	lists   map[string]*shape
	empties []string
	// quantities are fields with one quantity, or with quantities by name.
	quantities []string
	// settle is for what depends on more than one field.
	settle func(map[string]any)
}

// reduce takes out of a tree what means nothing.
func (s *shape) reduce(tree map[string]any) error {
	for _, field := range s.dropped {
		delete(tree, field)
	}
	if err := s.reduceBelow(tree); err != nil {
		return err
	}
	for _, field := range s.quantities {
		value, err := canonical(tree[field])
		if err != nil {
			return err
		}
		if value != nil {
			tree[field] = value
		}
	}
	if s.settle != nil {
		s.settle(tree)
	}
	for field, value := range s.defaults {
		if reflect.DeepEqual(tree[field], value) {
			delete(tree, field)
		}
	}
	for _, field := range s.empties {
		if isEmpty(tree[field]) {
			delete(tree, field)
		}
	}
	return nil
}

func (s *shape) reduceBelow(tree map[string]any) error {
	for field, below := range s.objects {
		if object, ok := tree[field].(map[string]any); ok {
			if err := below.reduce(object); err != nil {
				return err
			}
		}
	}
	for field, below := range s.lists {
		items, _ := tree[field].([]any)
		for _, item := range items {
			if object, ok := item.(map[string]any); ok {
				if err := below.reduce(object); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// canonical writes quantities in one notation: 1000m is 1, 1Ki is 1024.
func canonical(value any) (any, error) {
	switch value := value.(type) {
	case string:
		quantity, err := resource.ParseQuantity(value)
		if err != nil {
			return nil, err
		}
		return quantity.AsDec().String(), nil
	case map[string]any:
		for name, written := range value {
			one, err := canonical(written)
			if err != nil {
				return nil, err
			}
			value[name] = one
		}
		return value, nil
	}
	return value, nil
}
