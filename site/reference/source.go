package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// source is a package as parsed.
type source struct {
	Dir    string
	Files  []*ast.File
	types  map[string]*typeDecl
	consts map[string]ast.Expr
	Blocks []constBlock
}

type typeDecl struct {
	Name string
	Doc  comment
	Type ast.Expr
}

// constBlock is one const declaration, with what is said about all of it.
type constBlock struct {
	File   string
	Doc    string
	Consts []constant
}

type constant struct {
	Name  string
	Value string
	Doc   string
	Type  string
}

// sourceFiles are the Go files of a directory, without tests and generated code.
func sourceFiles(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	sort.Strings(paths)
	return slices.DeleteFunc(paths, func(path string) bool {
		name := filepath.Base(path)
		return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_generated")
	}), err
}

// parseSource reads the package of a directory.
func parseSource(dir string) (*source, error) {
	paths, err := sourceFiles(dir)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no Go files", dir)
	}
	s := &source{Dir: dir, types: map[string]*typeDecl{}, consts: map[string]ast.Expr{}}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, file)
		s.collect(filepath.Base(path), file)
	}
	s.evaluate()
	return s, nil
}

func (s *source) collect(name string, file *ast.File) {
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		if general.Tok == token.TYPE {
			s.collectTypes(general)
		}
		if general.Tok == token.CONST {
			s.collectConsts(name, general)
		}
	}
}

func (s *source) collectTypes(general *ast.GenDecl) {
	for _, spec := range general.Specs {
		t, is := spec.(*ast.TypeSpec)
		if !is {
			continue
		}
		doc := t.Doc
		if doc == nil {
			doc = general.Doc
		}
		s.types[t.Name.Name] = &typeDecl{Name: t.Name.Name, Doc: parseComment(doc), Type: t.Type}
	}
}

func (s *source) collectConsts(file string, general *ast.GenDecl) {
	block := constBlock{File: file, Doc: parseComment(general.Doc).Text}
	for _, spec := range general.Specs {
		value, is := spec.(*ast.ValueSpec)
		if !is {
			continue
		}
		for i, name := range value.Names {
			if i >= len(value.Values) {
				continue
			}
			s.consts[name.Name] = value.Values[i]
			c := constant{Name: name.Name, Doc: parseComment(value.Doc).Text}
			if !general.Lparen.IsValid() {
				c.Doc = block.Doc
			}
			if id, ok := value.Type.(*ast.Ident); ok {
				c.Type = id.Name
			}
			block.Consts = append(block.Consts, c)
		}
	}
	s.Blocks = append(s.Blocks, block)
}

// evaluate fills in the values of constants, which may use each other.
func (s *source) evaluate() {
	for i := range s.Blocks {
		for j := range s.Blocks[i].Consts {
			c := &s.Blocks[i].Consts[j]
			c.Value, _ = s.text(s.consts[c.Name])
		}
	}
}

// text is the value of a constant expression, if it is made of literals, constants of
// the package and +.
func (s *source) text(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return e.Value, true
		}
		value, err := strconv.Unquote(e.Value)
		return value, err == nil
	case *ast.Ident:
		inner, known := s.consts[e.Name]
		if !known {
			return "", false
		}
		return s.text(inner)
	case *ast.BinaryExpr:
		left, okLeft := s.text(e.X)
		right, okRight := s.text(e.Y)
		return left + right, e.Op == token.ADD && okLeft && okRight
	case *ast.ParenExpr:
		return s.text(e.X)
	}
	return "", false
}

// constsOf are the constants of a type, in the order of the source.
func (s *source) constsOf(typeName string) []constant {
	var found []constant
	for _, block := range s.Blocks {
		for _, c := range block.Consts {
			if c.Type == typeName {
				found = append(found, c)
			}
		}
	}
	return found
}
