package identity

import (
	"crypto/sha1"
	"encoding/hex"
)

const (
	// keyLength is the number of hexadecimal digits of a SHA-1.
	keyLength = 2 * sha1.Size
	// shortKeyLength is how much of a key is part of names.
	shortKeyLength = 8
)

// GroupKey is the key of a group with Ordinal identity. SHA-1 is part of the wire
// format; the key is a name and protects nothing.
func GroupKey(namespace, leaderName string) string {
	return hexSHA1(namespace + "/" + leaderName)
}

// DrawnKey is the key of a group with Hash identity, of characters drawn at random.
// The namespace keeps those of two namespaces apart whatever is drawn.
func DrawnKey(namespace, drawn string) string {
	return hexSHA1(namespace + "/" + drawn)
}

// SubGroupKey is the value of the label subgroup-key of the members of one
// subgroup of one group.
func SubGroupKey(groupName string, subGroup int32) string {
	return hexSHA1(groupName + "/" + formatIndex(subGroup))
}

func hexSHA1(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}
