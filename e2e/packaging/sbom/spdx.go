package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
)

// document is an SPDX document, as far as we fill it in.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []part         `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// part is a package of SPDX: the program, the Go release, and each module.
type part struct {
	ID        string      `json:"SPDXID"`
	Name      string      `json:"name"`
	Version   string      `json:"versionInfo,omitempty"`
	Download  string      `json:"downloadLocation"`
	Analysed  bool        `json:"filesAnalyzed"`
	Checksums []checksum  `json:"checksums,omitempty"`
	Refs      []reference `json:"externalRefs,omitempty"`
	Comment   string      `json:"comment,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	programID  = "SPDXRef-program"
	unasserted = "NOASSERTION"
	// epoch: the same program has the same document, whenever it was written.
	epoch = "1970-01-01T00:00:00Z"
)

// describe makes the document of a program.
func describe(name string, program []byte, info *debug.BuildInfo) *document {
	sum := sha256.Sum256(program)
	digest := hex.EncodeToString(sum[:])
	d := &document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: documentID, Name: name,
		Namespace: "https://" + info.Main.Path + "/sbom/" + name + "/" + digest,
		Creation:  creation{Created: epoch, Creators: []string{"Tool: " + info.Main.Path}},
	}
	d.add(documentID, "DESCRIBES", part{
		ID: programID, Name: name, Version: info.Main.Version, Download: unasserted,
		Checksums: []checksum{{"SHA256", digest}},
	})
	d.add(programID, "DEPENDS_ON", modulePart("SPDXRef-go", "stdlib", info.GoVersion))
	for i, module := range info.Deps {
		used := module
		if module.Replace != nil {
			used = module.Replace
		}
		p := modulePart(fmt.Sprintf("SPDXRef-module-%d", i+1), used.Path, used.Version)
		p.Comment = used.Sum
		d.add(programID, "DEPENDS_ON", p)
	}
	return d
}

// add adds a part with what it is to another.
func (d *document) add(from, kind string, p part) {
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, relationship{from, kind, p.ID})
}

func modulePart(id, path, version string) part {
	return part{
		ID: id, Name: path, Version: version, Download: unasserted,
		Refs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
}
