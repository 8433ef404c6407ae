package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// block is fenced text of a page.
type block struct {
	File     string
	Line     int
	Language string
	// Attributes are what stands in braces behind the language.
	Attributes string
	Text       string
}

func (b *block) where() string {
	return fmt.Sprintf("%s:%d", b.File, b.Line)
}

const (
	fence   = "```"
	pageExt = ".md"
)

// blocksOf reads the blocks of a page in order.
func blocksOf(file string) ([]block, error) {
	data, err := fs.ReadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file))
	if err != nil {
		return nil, err
	}
	var found []block
	var open *block
	var lines []string
	for i, line := range strings.Split(string(data), "\n") {
		info, isFence := strings.CutPrefix(line, fence)
		switch {
		case !isFence && open != nil:
			lines = append(lines, line)
		case !isFence:
		case open != nil:
			open.Text = strings.Join(lines, "\n")
			found = append(found, *open)
			open, lines = nil, nil
		default:
			language, attributes, _ := strings.Cut(info, " ")
			open = &block{File: file, Line: i + 1, Language: language, Attributes: attributes}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block is not closed", open.where())
	}
	return found, nil
}

// pagesBelow are the Markdown files of a directory, or the file itself.
func pagesBelow(path string) ([]string, error) {
	if filepath.Ext(path) == pageExt {
		return []string{path}, nil
	}
	var found []string
	err := fs.WalkDir(os.DirFS(path), ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(file) == pageExt {
			found = append(found, filepath.Join(path, file))
		}
		return err
	})
	slices.Sort(found)
	return found, err
}
