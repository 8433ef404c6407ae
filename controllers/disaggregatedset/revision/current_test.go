package revision

import "testing"

func TestCurrent(t *testing.T) {
	a, b, c := Meaning(`"a"`), Meaning(`"b"`), Meaning(`"c"`)
	roles := []Role{{"prefill", a}, {"decode", b}}
	hash := Hash(roles)
	tests := map[string]struct {
		existing []Existing
		want     string
	}{
		"nothing exists":                  {nil, hash},
		"the hash exists":                 {[]Existing{{"0ld", 0, roles}, {hash, 0, roles[:1]}}, hash},
		"the hash exists, edited by hand": {[]Existing{{hash, 0, []Role{{"prefill", c}}}}, hash},
		"one of an earlier release means the same": {
			[]Existing{{"other", 0, []Role{{"prefill", c}, {"decode", b}}}, {"0ld", 0, []Role{{"decode", b}, {"prefill", a}}}}, "0ld",
		},
		"of several, that of the lowest slice": {[]Existing{{"x", 1, roles}, {"z", 0, roles}, {"y", 0, roles}}, "y"},
		"another meaning":                      {[]Existing{{"0ld", 0, []Role{{"prefill", c}, {"decode", b}}}}, hash},
		"a role less":                          {[]Existing{{"0ld", 0, roles[:1]}}, hash},
		"a role more":                          {[]Existing{{"0ld", 0, append([]Role{{"router", c}}, roles...)}}, hash},
		"a role renamed":                       {[]Existing{{"0ld", 0, []Role{{"context", a}, {"decode", b}}}}, hash},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Current(roles, tc.existing); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
