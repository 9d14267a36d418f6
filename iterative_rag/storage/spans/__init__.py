"""Runs as OpenTelemetry spans, which Phoenix, Langfuse and Jaeger show. Made of the events of the trace."""
