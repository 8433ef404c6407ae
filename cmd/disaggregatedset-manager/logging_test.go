package main

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// encoded counts how often a value is encoded.
type encoded struct{ times int }

func (e *encoded) MarshalLogObject(zapcore.ObjectEncoder) error {
	e.times++
	return nil
}

func TestOnlyWhatIsSaidIsEncoded(t *testing.T) {
	said := 0
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), zapcore.AddSync(counter{&said}), zapcore.InfoLevel)
	value := &encoded{}
	logger := zap.New(core, encodeLazily).With(zap.Object("a", value)).With(zap.Object("b", value))

	logger.Debug("nobody wants to know")
	if value.times != 0 || said != 0 {
		t.Errorf("nothing is said: %d values encoded, %d lines written", value.times, said)
	}
	logger.Info("first")
	logger.Info("second")
	if value.times != 2 || said != 2 {
		t.Errorf("two lines of two values: %d values encoded, %d lines written; want 2 and 2", value.times, said)
	}
}

type counter struct{ times *int }

func (c counter) Write(p []byte) (int, error) {
	*c.times++
	return len(p), nil
}
