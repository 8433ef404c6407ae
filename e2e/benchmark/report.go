package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

// Measurement is what one phase took. The manager has no part in a phase of the
// floor, and no numbers there.
type Measurement struct {
	Phase       string   `json:"phase"`
	Seconds     float64  `json:"seconds"`
	Floor       float64  `json:"timesFloor,omitempty"`
	CPUSeconds  float64  `json:"managerCPUSeconds"`
	PeakMB      float64  `json:"managerPeakMB,omitempty"`
	GroupWrites float64  `json:"writesPerGroup"`
	SetWrites   int      `json:"writesToSet"`
	OtherWrites int      `json:"otherWrites"`
	Requests    Requests `json:"requests,omitempty"`
}

// Report is a whole run.
type Report struct {
	Groups int     `json:"groups"`
	Size   int     `json:"size"`
	IdleMB float64 `json:"managerIdleMB"`
	// ProgramMB is what mapped pages of the program's file are of every peak, at most.
	ProgramMB       float64 `json:"managerProgramMB"`
	MBPerThousand   float64 `json:"managerMBPerThousandPods"`
	TotalCPUSeconds float64 `json:"managerCPUSeconds"`
	// Bystanders are StatefulSets, and pods, that are not ours, HeapMB and HeapBesideMB
	// the live heap without and beside them.
	Bystanders   int           `json:"bystanders"`
	HeapMB       float64       `json:"managerHeapMB"`
	HeapBesideMB float64       `json:"managerHeapBesideBystandersMB"`
	Measurements []Measurement `json:"phases"`
}

// compare fills in the ratios to the floor. A rollout deletes and creates every
// pod once, so its floor is both.
func (r *Report) compare() {
	seconds := map[string]float64{}
	for _, m := range r.Measurements {
		seconds[m.Phase] = m.Seconds
	}
	replace := seconds["floor create"] + seconds["floor delete"]
	floors := map[string]float64{
		"bring-up": seconds["floor create"], "delete": seconds["floor delete"],
		"rollout": replace, "recovery of all groups": replace,
	}
	for i, m := range r.Measurements {
		if floor := floors[m.Phase]; floor > 0 {
			r.Measurements[i].Floor = m.Seconds / floor
		}
	}
}

func (r *Report) table(out io.Writer) error {
	fmt.Fprintf(out, "%d groups of %d, %d pods\n\n", r.Groups, r.Size, r.Groups*r.Size)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "phase\twall s\t× floor\tCPU s\tpeak MB\twrites/group\twrites to set\tother writes\t")
	for _, m := range r.Measurements {
		if m.PeakMB == 0 {
			fmt.Fprintf(table, "%s\t%.1f\t\t\t\t\t\t\t\n", m.Phase, m.Seconds)
			continue
		}
		ratio := "-"
		if m.Floor > 0 {
			ratio = fmt.Sprintf("%.2f", m.Floor)
		}
		fmt.Fprintf(table, "%s\t%.1f\t%s\t%.2f\t%.1f\t%.2f\t%d\t%d\t\n",
			m.Phase, m.Seconds, ratio, m.CPUSeconds, m.PeakMB, m.GroupWrites, m.SetWrites, m.OtherWrites)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmanager: %.2f CPU s in all, %.1f MB idle, %.1f MB more per 1,000 pods at the peak of the bring-up\n",
		r.TotalCPUSeconds, r.IdleMB, r.MBPerThousand)
	fmt.Fprintf(out, "of its peaks, up to %.1f MB are pages of the program's file that the kernel keeps mapped\n", r.ProgramMB)
	fmt.Fprintf(out, "its live heap: %.1f MB, and %.1f MB beside %d StatefulSets and as many pods that are not ours\n",
		r.HeapMB, r.HeapBesideMB, r.Bystanders)
	fmt.Fprintln(out, "\nrequests of the manager by phase:")
	requests := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range r.Measurements {
		for _, key := range m.Requests.Keys() {
			fmt.Fprintf(requests, "  %s\t%s\t%d\n", m.Phase, key, m.Requests[key])
		}
	}
	return requests.Flush()
}

func (r *Report) save(path string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}
