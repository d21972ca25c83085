// The OpenTelemetry Collector, made of the project's own parts: its OTLP receiver, its pipeline, and an exporter that
// prints a line of JSON for each span. `collector ADDRESS`: where it receives OTLP over HTTP.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

const settings = `yaml:
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {print: {}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines: {traces: {receivers: [otlp], exporters: [print]}}`

func told(resource pcommon.Resource, span ptrace.Span) map[string]interface{} {
	kind := strings.ToUpper(span.Kind().String())
	return map[string]interface{}{
		"trace": span.TraceID().String(), "span": span.SpanID().String(), "parent": span.ParentSpanID().String(),
		"name": span.Name(), "kind": "SPAN_KIND_" + kind,
		"ms":         float64(span.EndTimestamp()-span.StartTimestamp()) / 1e6,
		"attributes": span.Attributes().AsRaw(), "resource": resource.Attributes().AsRaw(),
	}
}

func printTraces(_ context.Context, traces ptrace.Traces) error {
	out := json.NewEncoder(os.Stdout)
	for i := 0; i < traces.ResourceSpans().Len(); i++ {
		resource := traces.ResourceSpans().At(i)
		for j := 0; j < resource.ScopeSpans().Len(); j++ {
			spans := resource.ScopeSpans().At(j).Spans()
			for k := 0; k < spans.Len(); k++ {
				if err := out.Encode(told(resource.Resource(), spans.At(k))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func newPrinter() exporter.Factory {
	create := func(ctx context.Context, set exporter.CreateSettings, config component.Config) (exporter.Traces, error) {
		return exporterhelper.NewTracesExporter(ctx, set, config, printTraces)
	}
	config := func() component.Config { return &struct{}{} }
	return exporter.NewFactory("print", config, exporter.WithTraces(create, component.StabilityLevelStable))
}

func main() {
	receivers, err := receiver.MakeFactoryMap(otlpreceiver.NewFactory())
	exporters, err2 := exporter.MakeFactoryMap(newPrinter())
	if err != nil || err2 != nil {
		log.Fatal(err, err2)
	}
	yaml := yamlprovider.New()
	provider, err := otelcol.NewConfigProvider(otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
		URIs: []string{fmt.Sprintf(settings, os.Args[1])}, Providers: map[string]confmap.Provider{yaml.Scheme(): yaml},
	}})
	if err != nil {
		log.Fatal(err)
	}
	collector, err := otelcol.NewCollector(otelcol.CollectorSettings{
		BuildInfo:      component.NewDefaultBuildInfo(),
		Factories:      otelcol.Factories{Receivers: receivers, Exporters: exporters},
		ConfigProvider: provider,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := collector.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
