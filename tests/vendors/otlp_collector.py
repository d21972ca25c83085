"""A strict OTLP/HTTP collector: what comes must be an ExportTraceServiceRequest of opentelemetry-proto, without a field
that it does not know, with ids and times as the specification has them. Prints its port, then a line of JSON for each
span."""
import base64
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


def with_bytes(request):
    """OTLP writes ids in hexadecimal, where protobuf's own JSON has base64."""
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
                    if name in span:
                        raw = bytes.fromhex(span[name])
                        assert len(raw) == size and any(raw), f"{name} {span[name]}"
                        span[name] = base64.b64encode(raw).decode()
    return request


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def told(resource, span):
    assert span.end_time_unix_nano >= span.start_time_unix_nano > 10**18, "its times are no nanoseconds"
    names = [attribute.key for attribute in span.attributes]
    assert len(names) == len(set(names)), "an attribute stands twice"
    return {"trace": span.trace_id.hex(), "span": span.span_id.hex(), "parent": span.parent_span_id.hex(),
            "name": span.name, "kind": Span.SpanKind.Name(span.kind),
            "ms": (span.end_time_unix_nano - span.start_time_unix_nano) / 1e6,
            "attributes": {attribute.key: value(attribute.value) for attribute in span.attributes},
            "resource": {attribute.key: value(attribute.value) for attribute in resource.attributes}}


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200
        try:
            assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
            request = ParseDict(with_bytes(json.loads(body)), ExportTraceServiceRequest())
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    assert scope.scope.name
                    for span in scope.spans:
                        print(json.dumps(told(resource.resource, span)), flush=True)
        except Exception as fault:
            status = 400
            print(json.dumps({"fault": f"{type(fault).__name__}: {fault}"}), flush=True)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Collector)
print(server.server_address[1], flush=True)
server.serve_forever()
