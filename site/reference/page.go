package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

const (
	pageMode      = 0o644
	meaningHeader = "Meaning"
)

// page is a Markdown file being written.
type page struct {
	file string
	body strings.Builder
}

func newPage(name, title, description string, weight int) *page {
	p := &page{file: name + ".md"}
	p.printf("---\ntitle: %q\ndescription: %q\nweight: %d\n---\n\n", title, description, weight)
	p.printf("<!-- Made by make generate; edit the source instead. -->\n")
	return p
}

func (p *page) printf(format string, args ...any) {
	fmt.Fprintf(&p.body, format, args...)
}

func (p *page) heading(level int, text string) {
	p.printf("\n%s %s\n", strings.Repeat("#", level), text)
}

func (p *page) paragraph(text string) {
	if text != "" {
		p.printf("\n%s\n", text)
	}
}

// table writes rows under a header, in a block of a class when one is given.
func (p *page) table(class string, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	if class != "" {
		p.printf("\n<div class=%q>\n", class)
	}
	p.printf("\n| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for _, row := range rows {
		p.printf("| %s |\n", strings.Join(row, " | "))
	}
	if class != "" {
		p.printf("\n</div>\n")
	}
}

func (p *page) write(directory string) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	return errors.Join(root.WriteFile(p.file, []byte(p.body.String()), pageMode), root.Close())
}

var escapes = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "{{", "{&#123;", "\n", " ",
)

// prose makes one line of Markdown that reads as the text does.
func prose(text string) string {
	return escapes.Replace(text)
}

// code is text as it is typed. A bar would end a table's cell.
func code(text string) string {
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// sentence starts with a capital and ends with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
