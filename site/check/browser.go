package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	pageTimeout = 30 * time.Second
	// searchedFor is a field that only the reference and few pages have.
	searchedFor = "maxGroupRestarts"
	filePerm    = 0o600
)

// viewport is a size of a window in which pages are looked at.
type viewport struct {
	Name          string
	Width, Height int
	Mobile        bool
}

var (
	desktop = viewport{Name: "desktop", Width: 1280, Height: 900}
	phone   = viewport{Name: "phone", Width: 390, Height: 844, Mobile: true}
)

// photographed are the pages of which there are screenshots.
var photographed = map[string]string{
	"/":                                "home",
	"/docs/concepts/failure-handling/": "concept",
	"/docs/concepts/rollouts/":         "rollouts",
	"/docs/reference/leaderworkerset/": "reference",
	"/docs/walkthroughs/first-set/":    "walkthrough",
}

// checkBrowser opens every page at every width, searches, and takes screenshots.
func checkBrowser(ctx context.Context, public, shots string, out io.Writer) error {
	s, err := readSite(public)
	if err != nil {
		return err
	}
	server := httptest.NewServer(http.FileServer(http.Dir(public)))
	defer server.Close()
	browser, err := startChrome(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = browser.stop() }()
	var findings []string
	checked := 0
	for _, view := range []viewport{desktop, phone} {
		for _, page := range s.pages() {
			found, err := browser.look(server.URL+page, view, shotFile(shots, page, view))
			if err != nil {
				return fmt.Errorf("%s: %w", page, err)
			}
			checked++
			for _, finding := range found {
				findings = append(findings, fmt.Sprintf("%s on a %s: %s", page, view.Name, finding))
			}
		}
	}
	checked++
	if err := browser.search(server.URL+"/docs/", shots); err != nil {
		findings = append(findings, "search: "+err.Error())
	}
	return report(out, "pages in a browser", checked, findings)
}

// pages are the addresses of all pages.
func (s *site) pages() []string {
	var found []string
	for file := range s.anchors {
		if page, is := strings.CutSuffix(file, indexFile); is {
			found = append(found, page)
		}
	}
	slices.Sort(found)
	return found
}

func shotFile(shots, page string, view viewport) string {
	name, wanted := photographed[page]
	if !wanted {
		return ""
	}
	return filepath.Join(shots, name+"-"+view.Name+".png")
}

// tab opens a page of its own, in the size of a viewport.
func (c *chrome) tab(view viewport) (session, target string, err error) {
	var created struct {
		TargetID string `json:"targetId"`
	}
	if err := c.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &created); err != nil {
		return "", "", err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := c.call("", "Target.attachToTarget", map[string]any{"targetId": created.TargetID, "flatten": true}, &attached); err != nil {
		return "", "", err
	}
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"} {
		if err := c.call(attached.SessionID, domain, struct{}{}, nil); err != nil {
			return "", "", err
		}
	}
	return attached.SessionID, created.TargetID, c.call(attached.SessionID, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": view.Width, "height": view.Height, "deviceScaleFactor": 1, "mobile": view.Mobile,
	}, nil)
}

// look opens a page and returns what is wrong with it.
func (c *chrome) look(address string, view viewport, shot string) ([]string, error) {
	session, target, err := c.tab(view)
	if err != nil {
		return nil, err
	}
	c.heard = nil
	if err := c.open(session, address); err != nil {
		return nil, err
	}
	findings := complaints(c.heard)
	var width struct {
		Result struct {
			Value int `json:"value"`
		} `json:"result"`
	}
	if err := c.call(session, "Runtime.evaluate", map[string]any{"expression": "document.documentElement.scrollWidth"}, &width); err != nil {
		return nil, err
	}
	if width.Result.Value > view.Width {
		findings = append(findings, fmt.Sprintf("is %d wide in a window of %d", width.Result.Value, view.Width))
	}
	if shot != "" {
		if err := c.photograph(session, shot); err != nil {
			return nil, err
		}
	}
	return findings, c.call("", "Target.closeTarget", map[string]any{"targetId": target}, nil)
}

// open goes to a page and waits until it and what it loads by itself is there.
func (c *chrome) open(session, address string) error {
	if err := c.call(session, "Page.navigate", map[string]any{"url": address}, nil); err != nil {
		return err
	}
	return c.await(session, `document.readyState === "complete"`)
}

// await waits until an expression is true on the page.
func (c *chrome) await(session, expression string) error {
	poll := `new Promise((done, fail) => {
		const until = Date.now() + 20000;
		const look = () => (` + expression + `) ? done(true) : Date.now() > until ? fail(new Error("not true within 20 s")) : setTimeout(look, 20);
		look();
	})`
	var answer struct {
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := c.call(session, "Runtime.evaluate", map[string]any{"expression": poll, "awaitPromise": true}, &answer)
	if err == nil && answer.Exception != nil {
		err = fmt.Errorf("%s: %s", expression, answer.Exception.Text)
	}
	return err
}

// complaints are the events by which a browser says that a page is broken.
func complaints(heard []message) []string {
	var found []string
	for _, m := range heard {
		var p struct {
			Type      string `json:"type"`
			ErrorText string `json:"errorText"`
			Entry     struct {
				Level string `json:"level"`
				Text  string `json:"text"`
				URL   string `json:"url"`
			} `json:"entry"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			continue
		}
		switch {
		case m.Method == "Runtime.exceptionThrown",
			m.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning"):
			found = append(found, string(m.Params))
		case m.Method == "Log.entryAdded" && p.Entry.Level == "error":
			found = append(found, p.Entry.Text+" "+p.Entry.URL)
		case m.Method == "Network.loadingFailed":
			found = append(found, p.ErrorText)
		}
	}
	return found
}

// search types into the search field as a reader does and wants the reference found.
func (c *chrome) search(address, shots string) error {
	session, _, err := c.tab(desktop)
	if err != nil {
		return err
	}
	if err := c.open(session, address); err != nil {
		return err
	}
	const field = `[...document.querySelectorAll('.td-search input')].find(e => e.offsetParent !== null)`
	if err := c.await(session, field+" !== undefined"); err != nil {
		return err
	}
	// Typing is repeated until the index has been loaded and something is found.
	found := fmt.Sprintf(`(() => {
		const input = %s;
		const results = [...document.querySelectorAll('.td-offline-search-results a')].map(a => a.getAttribute('href'));
		if (results.some(r => r.includes('/docs/reference/leaderworkerset/'))) return true;
		if (input.value !== %q || results.length === 0) { input.value = %q; $(input).trigger('change'); }
		return false;
	})()`, field, searchedFor, searchedFor)
	if err := c.await(session, found); err != nil {
		return errors.Join(fmt.Errorf("the reference is not found by %s", searchedFor), err)
	}
	return c.photograph(session, filepath.Join(shots, "search.png"))
}

func (c *chrome) photograph(session, file string) error {
	var picture struct {
		Data string `json:"data"`
	}
	if err := c.call(session, "Page.captureScreenshot", map[string]any{"format": "png"}, &picture); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, filePerm)
}
