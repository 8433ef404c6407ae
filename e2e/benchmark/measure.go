package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// meter measures phases of one manager.
type meter struct {
	stage   *stage
	manager process
	heap    profiles
	audit   *auditLog
	log     io.Writer
}

func (m *meter) run(ctx context.Context, s shape) (*Report, error) {
	report := &Report{Groups: s.Groups, Size: s.Size, Bystanders: m.stage.bystanders}
	for _, p := range m.stage.floorPhases() {
		seconds, err := m.time(ctx, p)
		if err != nil {
			return nil, err
		}
		report.Measurements = append(report.Measurements, Measurement{Phase: p.name, Seconds: seconds})
	}
	if _, err := m.audit.Next(); err != nil {
		return nil, err
	}
	var err error
	if report.IdleMB, err = m.manager.Memory(); err != nil {
		return nil, err
	}
	if err := m.runSetPhases(ctx, s, report); err != nil {
		return nil, err
	}
	if report.ProgramMB, err = m.manager.ProgramMemory(); err != nil {
		return nil, err
	}
	report.compare()
	return report, nil
}

func (m *meter) runSetPhases(ctx context.Context, s shape, report *Report) (err error) {
	for _, p := range m.stage.setPhases() {
		if p.name == bystandersPhase {
			if report.HeapMB, err = m.heap.LiveHeap(ctx); err != nil {
				return err
			}
		}
		measured, err := m.measure(ctx, p)
		if err != nil {
			return err
		}
		report.TotalCPUSeconds += measured.CPUSeconds
		report.Measurements = append(report.Measurements, measured)
		switch p.name {
		case "bring-up":
			report.MBPerThousand = (measured.PeakMB - report.IdleMB) * 1000 / float64(s.pods())
		case bystandersPhase:
			if report.HeapBesideMB, err = m.heap.LiveHeap(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *meter) time(ctx context.Context, p phase) (float64, error) {
	fmt.Fprintf(m.log, "%s …\n", p.name)
	if err := m.stage.rememberLeaders(ctx); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := p.start(ctx); err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	err := m.stage.world.until(ctx, phaseLimit, func() (string, bool, error) { return p.over(ctx) })
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	return time.Since(begin).Seconds(), nil
}

func (m *meter) measure(ctx context.Context, p phase) (Measurement, error) {
	if err := m.manager.ResetPeakMemory(); err != nil {
		return Measurement{}, err
	}
	before, err := m.manager.CPU()
	if err != nil {
		return Measurement{}, err
	}
	seconds, err := m.time(ctx, p)
	if err != nil {
		return Measurement{}, err
	}
	after, err := m.manager.CPU()
	if err != nil {
		return Measurement{}, err
	}
	peak, err := m.manager.PeakMemory()
	if err != nil {
		return Measurement{}, err
	}
	requests, err := m.audit.Next()
	if err != nil {
		return Measurement{}, err
	}
	group, set, other := requests.Writes()
	return Measurement{
		Phase: p.name, Seconds: seconds, CPUSeconds: after - before, PeakMB: peak,
		GroupWrites: float64(group) / float64(m.stage.shape.Groups), SetWrites: set, OtherWrites: other,
		Requests: requests,
	}, nil
}
