// Program chartgen brings the charts into line with config/ and with their own
// schemas: what charts do not vary comes from the kustomizations, the table of values
// in a chart's README from its values.schema.json.
package main
