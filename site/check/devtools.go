package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"time"

	"golang.org/x/net/websocket"
)

// browsers are the names that Chromium goes by.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

const browserStart = 30 * time.Second

// chrome is a headless browser that is told what to do over its debugging protocol.
type chrome struct {
	command *exec.Cmd
	profile string
	socket  *websocket.Conn
	next    int
	// heard are the events that arrived while an answer was waited for.
	heard []message
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

func startChrome(ctx context.Context) (*chrome, error) {
	var path string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("no browser: install one of %v", browsers)
	}
	profile, err := os.MkdirTemp("", "check-browser-")
	if err != nil {
		return nil, err
	}
	c := &chrome{profile: profile}
	c.command = exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--remote-debugging-port=0", "--remote-allow-origins=*", "--user-data-dir="+profile, "about:blank")
	address, err := c.start()
	if err == nil {
		c.socket, err = websocket.Dial(address, "", "http://localhost")
	}
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

var listening = regexp.MustCompile(`DevTools listening on (ws://\S+)`)

// start waits until the browser says where it listens.
func (c *chrome) start() (string, error) {
	printed, err := c.command.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := c.command.Start(); err != nil {
		return "", err
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for scanner := bufio.NewScanner(printed); scanner.Scan(); {
			if match := listening.FindStringSubmatch(scanner.Text()); match != nil {
				found <- match[1]
			}
		}
	}()
	select {
	case address, ok := <-found:
		if !ok {
			return "", errors.New("the browser ended before it listened")
		}
		return address, nil
	case <-time.After(browserStart):
		return "", fmt.Errorf("the browser did not listen within %s", browserStart)
	}
}

func (c *chrome) stop() error {
	if c.socket != nil {
		_ = c.socket.Close()
	}
	if c.command.Process != nil {
		_ = c.command.Process.Kill()
		_ = c.command.Wait()
	}
	return os.RemoveAll(c.profile)
}

// call asks for something and waits for the answer, which goes into result unless nil.
func (c *chrome) call(session, method string, params, result any) error {
	c.next++
	encoded, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if err := websocket.JSON.Send(c.socket, message{ID: c.next, SessionID: session, Method: method, Params: encoded}); err != nil {
		return err
	}
	for {
		m, err := c.receive(pageTimeout)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.ID != c.next:
			c.heard = append(c.heard, m)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		default:
			return nil
		}
	}
}

func (c *chrome) receive(within time.Duration) (message, error) {
	var m message
	if err := c.socket.SetReadDeadline(time.Now().Add(within)); err != nil {
		return m, err
	}
	err := websocket.JSON.Receive(c.socket, &m)
	return m, err
}
