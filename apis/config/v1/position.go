package v1

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/json"
)

// document is a YAML document in which fields can be found by their path.
type document struct {
	root *yaml.Node
}

// parse reads the only document of a file and refuses what YAML permits but a
// configuration file does not mean: several documents and keys given twice.
func parse(data []byte) (*document, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var node, next yaml.Node
	if err := decoder.Decode(&node); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := decoder.Decode(&next); err == nil {
		return nil, fmt.Errorf("line %d: a second document, must be one", max(next.Line, 1))
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if node.Kind != yaml.DocumentNode || node.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("must be a mapping of fields to values, with apiVersion and kind")
	}
	d := &document{root: node.Content[0]}
	return d, errors.Join(append(repeatedKeys(d.root), d.durationErrors()...)...)
}

func repeatedKeys(node *yaml.Node) []error {
	var errs []error
	if node.Kind == yaml.MappingNode {
		first := map[string]int{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			if line, ok := first[key.Value]; ok {
				errs = append(errs, fmt.Errorf("line %d: field %q is given twice, first in line %d", key.Line, key.Value, line))
				continue
			}
			first[key.Value] = key.Line
		}
	}
	for _, child := range node.Content {
		errs = append(errs, repeatedKeys(child)...)
	}
	return errs
}

// durationErrors is for the fields whose own decoder reports no path.
func (d *document) durationErrors() []error {
	var errs []error
	for _, name := range []string{"leaseDuration", "renewDeadline", "retryPeriod"} {
		path := "leaderElection." + name
		value := d.value(path)
		if value == nil {
			continue
		}
		if _, err := time.ParseDuration(value.Value); err != nil || value.Tag != "!!str" {
			errs = append(errs, d.errorAt(path, fmt.Sprintf("%s is %q, must be a duration such as 15s", path, value.Value)))
		}
	}
	return errs
}

// explain adds the line of the field that an error of the JSON decoder is about.
func (d *document) explain(err error) error {
	var fieldError json.FieldError
	if errors.As(err, &fieldError) {
		return d.errorAt(fieldError.FieldPath(), err.Error())
	}
	var typeError *stdjson.UnmarshalTypeError
	if errors.As(err, &typeError) {
		return d.errorAt(typeError.Field, fmt.Sprintf("%s is a %s, must be %s", typeError.Field, typeError.Value, typeError.Type))
	}
	return err
}

func (d *document) errorAt(path, message string) error {
	if key, _ := find(d.root, path); key != nil {
		return fmt.Errorf("line %d: %s", key.Line, message)
	}
	return errors.New(message)
}

func (d *document) value(path string) *yaml.Node {
	_, value := find(d.root, path)
	return value
}

// find returns the key and value of a path such as a.b[1].c below a node. Keys may
// contain dots: a key matches when the path goes on behind it.
func find(node *yaml.Node, path string) (key, value *yaml.Node) {
	switch node.Kind {
	case yaml.AliasNode:
		return find(node.Alias, path)
	case yaml.SequenceNode:
		return findInSequence(node, path)
	case yaml.MappingNode:
		return findInMapping(node, path)
	default:
		return nil, nil
	}
}

func findInMapping(node *yaml.Node, path string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		rest, ok := strings.CutPrefix(path, node.Content[i].Value)
		if !ok || (rest != "" && rest[0] != '.' && rest[0] != '[') {
			continue
		}
		if rest == "" {
			return node.Content[i], node.Content[i+1]
		}
		if key, value := find(node.Content[i+1], strings.TrimPrefix(rest, ".")); key != nil {
			return key, value
		}
	}
	return nil, nil
}

func findInSequence(node *yaml.Node, path string) (key, value *yaml.Node) {
	index, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	if !ok {
		return nil, nil
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(node.Content) {
		return nil, nil
	}
	if rest == "" {
		return node.Content[i], node.Content[i]
	}
	return find(node.Content[i], strings.TrimPrefix(rest, "."))
}
