package main

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// site is what was built: its files, and the anchors of its pages.
type site struct {
	root    string
	files   map[string]bool
	anchors map[string]map[string]bool
	links   []link
}

// link is a reference of a page. It is loaded if the browser fetches it by itself.
type link struct {
	From   string
	To     string
	Loaded bool
}

const indexFile = "index.html"

// checkLinks wants every page of the content, every link to lead to a page and an
// anchor that exist, every page to be linked, and nothing to be loaded from elsewhere.
func checkLinks(public, content string, out io.Writer) error {
	s, err := readSite(public)
	if err != nil {
		return err
	}
	missing, err := s.missing(content)
	if err != nil {
		return err
	}
	findings := missing
	linked := map[string]bool{"/" + indexFile: true, "/404.html": true}
	for _, l := range s.links {
		target, finding := s.follow(l)
		linked[target] = linked[target] || target != l.From
		if finding != "" {
			findings = append(findings, fmt.Sprintf("%s: %s: %s", l.From, l.To, finding))
		}
	}
	for page := range s.anchors {
		if !linked[page] {
			findings = append(findings, page+": no page links to it")
		}
	}
	slices.Sort(findings)
	return report(out, "links", len(s.links), slices.Compact(findings))
}

// missing are the pages of the content that were not built.
func (s *site) missing(content string) ([]string, error) {
	pages, err := pagesBelow(content)
	var findings []string
	for _, page := range pages {
		name, err := filepath.Rel(content, page)
		if err != nil {
			return nil, err
		}
		directory := strings.TrimSuffix(filepath.ToSlash(name), pageExt)
		if base := path.Base(directory); base == "_index" || base == "index" {
			directory = path.Dir(directory)
		}
		if want := path.Join("/", directory, indexFile); !s.files[want] {
			findings = append(findings, fmt.Sprintf("%s: %s was not built", page, want))
		}
	}
	return findings, err
}

func readSite(root string) (*site, error) {
	s := &site{root: root, files: map[string]bool{}, anchors: map[string]map[string]bool{}}
	built := os.DirFS(root)
	err := fs.WalkDir(built, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		s.files["/"+file] = true
		if path.Ext(file) == ".html" {
			return s.readPage(built, file)
		}
		return nil
	})
	if err == nil && len(s.anchors) == 0 {
		err = fmt.Errorf("%s: no pages", root)
	}
	return s, err
}

func (s *site) readPage(built fs.FS, file string) error {
	opened, err := built.Open(file)
	if err != nil {
		return err
	}
	name := "/" + file
	document, err := html.Parse(opened)
	if err := opened.Close(); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.anchors[name] = map[string]bool{}
	for node := range document.Descendants() {
		if node.Type == html.ElementNode {
			s.readElement(name, node)
		}
	}
	return nil
}

func (s *site) readElement(page string, node *html.Node) {
	for _, a := range node.Attr {
		switch {
		case a.Key == "id" || (a.Key == "name" && node.Data == "a"):
			s.anchors[page][a.Val] = true
		case a.Key == "href":
			s.links = append(s.links, link{From: page, To: a.Val, Loaded: node.Data == "link"})
		case a.Key == "src":
			s.links = append(s.links, link{From: page, To: a.Val, Loaded: true})
		}
	}
}

// follow returns the file that a link leads to, and what is wrong with it.
func (s *site) follow(l link) (target, finding string) {
	to, err := url.Parse(l.To)
	switch {
	case err != nil:
		return "", err.Error()
	case to.Scheme == "data" || to.Scheme == "mailto":
		return "", ""
	case to.Host != "" && l.Loaded:
		return "", "is loaded from elsewhere"
	case to.Host != "":
		return "", ""
	}
	target = l.From
	if to.Path != "" {
		target = s.fileOf(l.From, to.Path)
	}
	if !s.files[target] {
		return target, "leads to no page"
	}
	if anchors, isPage := s.anchors[target]; isPage && to.Fragment != "" && !anchors[to.Fragment] {
		return target, "has no such anchor"
	}
	return target, ""
}

// fileOf is the file that is served for a path, seen from a page.
func (s *site) fileOf(page, to string) string {
	if !strings.HasPrefix(to, "/") {
		to = path.Join(path.Dir(page), to) + strings.Repeat("/", strings.Count(to[max(0, len(to)-1):], "/"))
	}
	if s.files[to] {
		return to
	}
	return path.Join(to, indexFile)
}
