"""The HTTP door: `/api/...` in JSON and server-sent events and `/healthz`."""
