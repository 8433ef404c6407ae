// Package rules checks the alerts and dashboards of config/prometheus with Prometheus'
// own library: that they parse, and that every metric that they read is one that a
// manager has. It is a module of its own, since Prometheus pins other libraries.
package rules
