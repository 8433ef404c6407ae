package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	namesUnderTest = []string{"webhooks.home.svc", "localhost"}
	start          = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
)

func mustRenew(t *testing.T, data map[string][]byte, r renewal, now time.Time) map[string][]byte {
	t.Helper()
	renewed, err := renew(data, namesUnderTest, r, now)
	if err != nil {
		t.Fatal(err)
	}
	return renewed
}

func authorities(trust []byte) int {
	n := 0
	for block, rest := pem.Decode(trust); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	return n
}

func TestPlanRenewal(t *testing.T) {
	fresh := mustRenew(t, nil, renewal{authority: true}, start)
	changed := mustRenew(t, fresh, renewal{authority: true}, start)
	signed := mustRenew(t, changed, renewal{certificate: true}, start)
	without := func(key string) map[string][]byte {
		data := map[string][]byte{}
		for k, v := range fresh {
			data[k] = v
		}
		delete(data, key)
		return data
	}
	tests := map[string]struct {
		data  map[string][]byte
		names []string
		now   time.Time
		want  renewal
	}{
		"an empty Secret": {
			now:  start,
			want: renewal{authority: true, reason: "there is no authority yet"},
		},
		"fresh: until the certificate is due": {
			data: fresh, now: start,
			want: renewal{again: start.Add(certificateLife - renewBefore)},
		},
		"the authority's key is lost": {
			data: without(authorityKey), now: start,
			want: renewal{authority: true, reason: "there is no authority yet"},
		},
		"the certificate is lost": {
			data: without(certificateKey), now: start,
			want: renewal{certificate: true, reason: "there is no certificate yet"},
		},
		"a name is new": {
			data: fresh, now: start, names: []string{"webhooks.elsewhere.svc"},
			want: renewal{certificate: true, reason: "the certificate cannot be used for webhooks.elsewhere.svc: x509: certificate is valid for webhooks.home.svc, localhost, not webhooks.elsewhere.svc"},
		},
		"the certificate is due": {
			data: fresh, now: start.Add(certificateLife - renewBefore),
			want: renewal{certificate: true, reason: "the certificate is due for renewal"},
		},
		"after a new authority: until it has been heard of": {
			data: changed, now: start.Add(time.Second),
			want: renewal{again: start.Add(settle)},
		},
		"after a new authority: the certificate": {
			data: changed, now: start.Add(settle),
			want: renewal{certificate: true, reason: "the certificate is due for renewal"},
		},
		"after its certificate: until every replica serves it": {
			data: signed, now: start.Add(time.Second),
			want: renewal{again: start.Add(retire)},
		},
		"then what was before is forgotten": {
			data: signed, now: start.Add(retire),
			want: renewal{forget: true, reason: "the newest authority has signed all that is in use"},
		},
		"forgotten": {
			data: mustRenew(t, signed, renewal{forget: true}, start), now: start.Add(retire),
			want: renewal{again: start.Add(certificateLife - renewBefore)},
		},
		"the authority is due": {
			data: fresh, now: start.Add(authorityLifetime - renewBefore),
			want: renewal{authority: true, reason: "the authority ends at 2039-12-30T00:00:00Z"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			names := test.names
			if names == nil {
				names = namesUnderTest
			}
			got := planRenewal(test.data, names, true, test.now)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(renewal{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGarbageIsReplaced(t *testing.T) {
	fresh := mustRenew(t, nil, renewal{authority: true}, start)
	for _, key := range []string{trustKey, authorityKey, certificateKey, privateKey} {
		t.Run(key, func(t *testing.T) {
			data := map[string][]byte{}
			for k, v := range fresh {
				data[k] = v
			}
			data[key] = []byte("garbage")
			next := planRenewal(data, namesUnderTest, false, start)
			if !next.authority && !next.certificate {
				t.Fatal("garbage is left")
			}
			data = mustRenew(t, data, next, start)
			if next = planRenewal(data, namesUnderTest, true, start); next.authority || next.certificate {
				t.Errorf("after renewal there is still to do: %s", next.reason)
			}
		})
	}
}

// TestRotationLeavesNoGap lives through twelve years. Whatever the API server trusts
// at a moment must fit the certificate that is served at it.
func TestRotationLeavesNoGap(t *testing.T) {
	var data map[string][]byte
	var trusted []byte
	now := start
	authoritiesMade, certificatesMade := 0, 0
	for steps := 0; now.Before(start.Add(12 * 365 * 24 * time.Hour)); steps++ {
		if steps > 200 {
			t.Fatalf("at %s it does not come to rest", now)
		}
		next := planRenewal(data, namesUnderTest, bytes.Equal(trusted, data[trustKey]) && len(trusted) > 0, now)
		if next.isDue() {
			before := data[certificateKey]
			data = mustRenew(t, data, next, now)
			if next.authority {
				authoritiesMade++
			}
			if !bytes.Equal(before, data[certificateKey]) {
				certificatesMade++
			}
		}
		// A certificate that replaces one in use must be trusted before it is served.
		if trusted != nil {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(trusted)
			block, _ := pem.Decode(data[certificateKey])
			leaf, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range namesUnderTest {
				if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
					t.Fatalf("at %s the API server would refuse the certificate for %s: %v", now, name, err)
				}
			}
		}
		if !next.isDue() {
			trusted = data[trustKey]
			now = next.again
		}
	}
	if authoritiesMade != 2 {
		t.Errorf("%d authorities in 12 years, want 2: they last 10", authoritiesMade)
	}
	if certificatesMade < 15 || certificatesMade > 18 {
		t.Errorf("%d certificates in 12 years, want one every 275 days", certificatesMade)
	}
	if n := authorities(data[trustKey]); n != 1 {
		t.Errorf("%d authorities are trusted, want only the newest, which has signed all that is in use", n)
	}
}

// TestWhatWorksOutlivesItsSecret: somebody empties the Secret, or deletes it.
func TestWhatWorksOutlivesItsSecret(t *testing.T) {
	before := mustRenew(t, nil, renewal{authority: true}, start)
	trust := before[trustKey]
	served := map[string][]byte{certificateKey: before[certificateKey], privateKey: before[privateKey]}
	without := func(keys ...string) map[string][]byte {
		data := maps.Clone(before)
		for _, key := range keys {
			delete(data, key)
		}
		return data
	}
	tests := map[string]struct {
		data, served map[string][]byte
		kept         bool
	}{
		"everything is gone":                        {served: served, kept: true},
		"everything is empty":                       {data: map[string][]byte{trustKey: {}, authorityKey: {}, certificateKey: {}, privateKey: {}}, served: served, kept: true},
		"a replica that has just started finds it":  {},
		"only what is trusted is gone":              {data: without(trustKey), kept: true},
		"what is trusted is garbage":                {data: map[string][]byte{trustKey: []byte("garbage")}, served: served, kept: true},
		"only the certificate remains, with a key":  {data: without(trustKey, authorityKey), kept: true},
		"only the authority's own key is not there": {data: without(authorityKey), kept: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			data := restored(test.data, join(trust, []byte("\n"), trust), test.served, start)
			next := planRenewal(data, namesUnderTest, true, start)
			if !next.authority {
				t.Fatalf("its authority is not replaced, but %+v", next)
			}
			data = mustRenew(t, data, next, start)
			if n := authorities(data[trustKey]); n != 2 || !bytes.HasSuffix(data[trustKey], trust) {
				t.Errorf("%d authorities are trusted, want the newest and the one that signed what is served", n)
			}
			if kept := bytes.Equal(data[certificateKey], before[certificateKey]); kept != test.kept {
				t.Errorf("the certificate is kept: %t, want %t", kept, test.kept)
			}
		})
	}
	if diff := cmp.Diff(before, restored(before, nil, nil, start)); diff != "" {
		t.Errorf("a Secret that lost nothing (-want +got)\n%s", diff)
	}
}

func TestEndedAuthoritiesAreForgotten(t *testing.T) {
	data := mustRenew(t, nil, renewal{authority: true}, start)
	later := start.Add(authorityLifetime + time.Hour)
	data = mustRenew(t, data, renewal{authority: true}, later)
	if n := authorities(data[trustKey]); n != 1 {
		t.Errorf("%d authorities are trusted, want only the new one", n)
	}
}

func TestTrustPatch(t *testing.T) {
	got, err := trustPatch([]webhookTrust{{name: "a"}, {name: "b", bundle: []byte("old")}}, []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`[{"op":"test","path":"/webhooks/0/name","value":"a"}`,
		`{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"bmV3"}`,
		`{"op":"test","path":"/webhooks/1/name","value":"b"}`,
		`{"op":"add","path":"/webhooks/1/clientConfig/caBundle","value":"bmV3"}]`,
	}, ",")
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
