"""What every request passes before a door sees it, each guard an ASGI middleware."""
