package main

import (
	"crypto/tls"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// trusting are webhook configurations that are called with a bundle.
func trusting(bundle []byte) []webhookConfiguration {
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	configuration.Name = "validating"
	return []webhookConfiguration{{object: configuration, webhooks: []webhookTrust{{"a", bundle, namesUnderTest[0]}}}}
}

func join(bundles ...[]byte) []byte {
	var joined []byte
	for _, bundle := range bundles {
		joined = append(joined, bundle...)
	}
	return joined
}

func TestSuccession(t *testing.T) {
	before := mustRenew(t, nil, renewal{authority: true}, start)
	other := mustRenew(t, nil, renewal{authority: true}, start)
	old, both, changed := before[trustKey], join(before[trustKey], other[trustKey]), other[trustKey]
	sameAuthority := pairOf(t, mustRenew(t, before, renewal{certificate: true}, start))
	otherAuthority := pairOf(t, other)
	type look struct {
		after  time.Duration
		bundle []byte
		served bool
	}
	tests := map[string]struct {
		newest *tls.Certificate
		looks  []look
	}{
		"of the same authority: at once": {
			newest: sameAuthority,
			looks:  []look{{0, old, true}},
		},
		"of the same authority, while others are trusted too: at once": {
			newest: sameAuthority,
			looks:  []look{{0, both, true}},
		},
		"of an authority that is added: once everybody has heard of it": {
			newest: otherAuthority,
			looks:  []look{{0, old, false}, {time.Hour, both, false}, {time.Hour + heard - 1, both, false}, {time.Hour + heard, both, true}},
		},
		"of an authority that comes and goes: counted from the last time": {
			newest: otherAuthority,
			looks:  []look{{0, both, false}, {heard - 1, old, false}, {heard, both, false}, {2*heard - 1, both, false}, {2 * heard, both, true}},
		},
		"the one before is trusted no longer: at once": {
			newest: otherAuthority,
			looks:  []look{{0, old, false}, {1, changed, true}},
		},
		"nobody is trusted: the newest, which is trusted next": {
			newest: otherAuthority,
			looks:  []look{{0, nil, true}},
		},
		"the one before ends": {
			newest: sameAuthority,
			looks:  []look{{certificateLife + 1, old, true}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &succession{}
			s.first(pairOf(t, before))
			for i, look := range test.looks {
				waits := s.choose(test.newest, trusting(look.bundle), start.Add(look.after))
				if _, got := s.current(test.newest); got != look.served {
					t.Errorf("look %d: the newest is served: %t, want %t", i, got, look.served)
				}
				if want := i == 0 && !look.served; waits != want {
					t.Errorf("look %d: it is news that it waits: %t, want %t", i, waits, want)
				}
			}
		})
	}
}

func TestAThirdCertificateWaitsAnew(t *testing.T) {
	before := mustRenew(t, nil, renewal{authority: true}, start)
	second := mustRenew(t, nil, renewal{authority: true}, start)
	third := mustRenew(t, nil, renewal{authority: true}, start)
	s := &succession{}
	s.first(pairOf(t, before))
	s.choose(pairOf(t, second), trusting(join(before[trustKey], second[trustKey])), start)
	newest := pairOf(t, third)
	all := trusting(join(before[trustKey], second[trustKey], third[trustKey]))
	if !s.choose(newest, all, start.Add(heard)) {
		t.Error("that the third waits is no news")
	}
	if _, served := s.current(newest); served {
		t.Error("it is served as if it were the second")
	}
	s.choose(newest, all, start.Add(2*heard))
	if _, served := s.current(newest); !served {
		t.Error("it is not served once it was heard of")
	}
}
