package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// typesPage writes the types of a package, from its kinds down.
type typesPage struct {
	*page
	source *source
	// elsewhere are the pages of other packages, by the name they are imported as.
	elsewhere map[string]string
	written   map[string]bool
	queue     []string
}

func (t *typesPage) writeKinds(kinds ...string) error {
	t.queue = kinds
	if t.written == nil {
		t.written = map[string]bool{}
	}
	for len(t.queue) > 0 {
		name := t.queue[0]
		t.queue = t.queue[1:]
		if t.written[name] {
			continue
		}
		t.written[name] = true
		declaration, known := t.source.types[name]
		if !known {
			return fmt.Errorf("%s: no type %s", t.source.Dir, name)
		}
		if err := t.writeType(declaration); err != nil {
			return err
		}
	}
	return nil
}

func (t *typesPage) writeType(declaration *typeDecl) error {
	t.heading(2, declaration.Name)
	for _, paragraph := range strings.Split(declaration.Doc.Text, "\n\n") {
		t.paragraph(prose(paragraph))
	}
	structure, isStruct := declaration.Type.(*ast.StructType)
	if !isStruct {
		t.writeValues(declaration)
		return nil
	}
	rows, err := t.rows(structure)
	if err != nil {
		return fmt.Errorf("%s: %w", declaration.Name, err)
	}
	t.table("fields", []string{"Field", "Type and default", "Meaning and rules"}, rows)
	if rules := declaration.Doc.rules(); len(rules) > 0 {
		t.paragraph("Rules:")
		t.printf("\n")
		for _, r := range rules {
			t.printf("- %s\n", r.words(""))
		}
	}
	return nil
}

// writeValues lists the constants of a type that is a choice.
func (t *typesPage) writeValues(declaration *typeDecl) {
	var rows [][]string
	for _, c := range t.source.constsOf(declaration.Name) {
		rows = append(rows, []string{code(c.Value), prose(sentence(strings.TrimPrefix(c.Doc, c.Name+" ")))})
	}
	t.table("", []string{"Value", meaningHeader}, rows)
}

func (t *typesPage) rows(structure *ast.StructType) ([][]string, error) {
	var rows [][]string
	for _, field := range structure.Fields.List {
		name, inline := jsonName(field)
		if inline {
			inlined, err := t.inlined(field.Type)
			if err != nil {
				return nil, err
			}
			rows = append(rows, inlined...)
			continue
		}
		if name == "" {
			continue
		}
		rows = append(rows, t.row(name, field))
	}
	return rows, nil
}

// inlined are the fields of a type whose fields are those of the type around it.
func (t *typesPage) inlined(expression ast.Expr) ([][]string, error) {
	switch e := expression.(type) {
	case *ast.SelectorExpr:
		if e.Sel.Name == "TypeMeta" {
			return nil, nil
		}
		where := t.link(e)
		return [][]string{{"…", where, "The fields of " + where + " stand here."}}, nil
	case *ast.Ident:
		if declaration := t.source.types[e.Name]; declaration != nil {
			if structure, isStruct := declaration.Type.(*ast.StructType); isStruct {
				return t.rows(structure)
			}
		}
	}
	return nil, fmt.Errorf("%s: an inlined field that is no struct of the package", t.source.Dir)
}

func (t *typesPage) row(name string, field *ast.Field) []string {
	doc := parseComment(field.Doc)
	kind := t.link(field.Type)
	if doc.has("required") {
		kind += "<br>required"
	}
	if value, given := doc.value("default"); given {
		kind += "<br>default " + code(value)
	}
	meaning := []string{prose(sentence(withoutName(doc.Text, name)))}
	for _, bound := range append(t.typeBounds(field.Type), doc.bounds()...) {
		meaning = append(meaning, sentence(bound))
	}
	for _, r := range doc.rules() {
		meaning = append(meaning, r.words(name))
	}
	return []string{code(name), kind, strings.Join(meaning, "<br>")}
}

// typeBounds are the values of a choice, so that the table shows them.
func (t *typesPage) typeBounds(expression ast.Expr) []string {
	id, own := unwrapped(expression).(*ast.Ident)
	if !own || t.source.types[id.Name] == nil {
		return nil
	}
	values, given := t.source.types[id.Name].Doc.value("validation:Enum")
	if !given {
		return nil
	}
	return []string{"one of " + code(strings.ReplaceAll(values, ";", "`, `"))}
}

// words is a rule as one sentence, about the field of the name or one below it.
func (r rule) words(field string) string {
	subject := r.Path
	if field != "" && subject != "" {
		subject = field + "." + subject
	} else if field != "" {
		subject = field
	}
	text := prose(r.Message)
	if subject != "" {
		text = code(subject) + ": " + text
	}
	if r.OnUpdate {
		text = "On update, " + text
	}
	return text + "."
}

// link names a type, with a link to where it is described.
func (t *typesPage) link(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return t.link(e.X)
	case *ast.ArrayType:
		return "list of " + t.link(e.Elt)
	case *ast.MapType:
		return "map of " + t.link(e.Key) + " to " + t.link(e.Value)
	case *ast.SelectorExpr:
		return t.foreign(e)
	case *ast.Ident:
		if t.source.types[e.Name] == nil {
			return e.Name
		}
		t.queue = append(t.queue, e.Name)
		return fmt.Sprintf("[%s](#%s)", e.Name, strings.ToLower(e.Name))
	}
	return "?"
}

func (t *typesPage) foreign(selector *ast.SelectorExpr) string {
	origin, isPackage := selector.X.(*ast.Ident)
	if !isPackage {
		return selector.Sel.Name
	}
	if where, ours := t.elsewhere[origin.Name]; ours {
		return fmt.Sprintf("[%s](%s#%s)", selector.Sel.Name, where, strings.ToLower(selector.Sel.Name))
	}
	return selector.Sel.Name + " of Kubernetes"
}

func unwrapped(expression ast.Expr) ast.Expr {
	if star, is := expression.(*ast.StarExpr); is {
		return unwrapped(star.X)
	}
	return expression
}

// jsonName is the name of a field in JSON, and whether its fields are inlined.
func jsonName(field *ast.Field) (name string, inline bool) {
	if field.Tag == nil {
		return "", false
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return "", false
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name, name == "" && strings.Contains(options, "inline")
}

// withoutName is the comment of a field without the words that only name it.
func withoutName(text, name string) string {
	text = strings.TrimPrefix(text, name+" ")
	for _, verb := range []string{"is ", "are "} {
		text = strings.TrimPrefix(text, verb)
	}
	return text
}
