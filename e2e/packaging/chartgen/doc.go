// Program chartgen brings the charts into line with config/, with the types of the API
// and with their own schemas: what charts do not vary comes from the kustomizations,
// the definitions in values.schema.json from the types that values have, the table of
// values in a chart's README from its values.schema.json.
package main
