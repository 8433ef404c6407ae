package main

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// encodeLazily leaves the values of a logger unencoded until it says something: every
// reconcile and every call of a webhook has a logger, and few say anything.
var encodeLazily = zap.WrapCore(func(core zapcore.Core) zapcore.Core { return lazyCore{core} })

type lazyCore struct{ zapcore.Core }

// With adds values.
func (c lazyCore) With(fields []zapcore.Field) zapcore.Core {
	return lazyCore{zapcore.NewLazyWith(c.Core, fields)}
}
