"""A Qdrant server on loopback: `qdrant-client`'s in-memory one behind the calls of REST.

Whatever would change a collection is listed in `writes`, and refused unless the server is `writable`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fakes.in_memory_qdrant import InMemoryQdrant
from fakes.loopback_server import Handler, serving


@contextmanager
def qdrant_server(client: InMemoryQdrant, writes: list[str], *, writable: bool = False) -> Iterator[str]:
    """The address for `--index`, without a collection."""
    attributes = {"client": client, "writes": writes, "writable": writable}
    with serving(type("Handler", (_Handler,), attributes)) as host:
        yield f"qdrant://{host}"


class _Handler(Handler):
    client: InMemoryQdrant
    writes: list[str]
    writable: bool

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        if self.path.partition("?")[0].endswith("/points/delete"):
            self.do_PUT()
        else:
            self._answer(self._asked())

    def do_PUT(self) -> None:
        body = self._asked()
        self.writes.append(f"{self.command} {self.path}")
        if not self.writable:
            return self.send_json({"status": {"error": "Forbidden: read only"}}, 403)
        self._change(self.path.partition("?")[0].removeprefix("/collections/").partition("/"), body)
        done: Any = {"status": "completed", "operation_id": 0} if "/points" in self.path else True
        return self.send_json({"result": done, "status": "ok", "time": 0.0}, 200)

    do_DELETE = do_PATCH = do_PUT

    def _asked(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.body() or b"{}")
        return body

    def _change(self, path: tuple[str, str, str], body: dict[str, Any]) -> None:
        from qdrant_client import models

        name, _, what = path
        if what == "points":
            self.client.upsert(name, [models.PointStruct(**one) for one in body["points"]])
        elif what == "points/delete":
            self.client.delete(name, models.PointIdsList(points=body["points"]))
        elif self.command == "DELETE":
            self.client.delete_collection(name)
        else:
            made = models.CreateCollection(**body)
            self.client.create_collection(
                name, made.vectors, sparse_vectors_config=made.sparse_vectors, metadata=body.get("metadata")
            )

    def _answer(self, body: dict[str, Any]) -> None:
        path = self.path.partition("?")[0]
        found = re.fullmatch(r"/collections(?:/(?P<name>[^/]+))?(?P<what>.*)", path)
        if not found:
            return self.send_json({"status": {"error": "Not found"}}, 404)
        name, what = found["name"] or "", found["what"]
        if name and what != "/exists" and not self.client.collection_exists(name):
            return self.send_json({"status": {"error": f"Collection `{name}` doesn't exist!"}}, 404)
        return self.send_json({"result": self._result(name, what, body), "status": "ok", "time": 0.0}, 200)

    def _result(self, name: str, what: str, body: dict[str, Any]) -> Any:
        from qdrant_client import models

        match what:
            case "":
                return _json(self.client.get_collection(name) if name else self.client.get_collections())
            case "/exists":
                return {"exists": self.client.collection_exists(name)}
            case "/points/count":
                return _json(self.client.count(name, exact=True))
            case "/points":
                vectors = bool(body.get("with_vector"))
                return _json(self.client.retrieve(name, body["ids"], with_payload=True, with_vectors=vectors))
            case "/points/scroll":
                asked = models.ScrollRequest(**body)
                points, after = self.client.scroll(
                    name,
                    scroll_filter=asked.filter,
                    limit=asked.limit,
                    offset=asked.offset,
                    with_payload=asked.with_payload,
                    with_vectors=asked.with_vector,
                )
                return {"points": _json(points), "next_page_offset": after}
            case "/points/query/batch":
                searches = models.QueryRequestBatch(**body).searches
                return _json(self.client.query_batch_points(name, searches))
        raise AssertionError(f"the server has no {what}")


def _json(value: Any) -> Any:
    if isinstance(value, list):
        return [_json(one) for one in value]
    return value.model_dump(mode="json", exclude_none=False)
