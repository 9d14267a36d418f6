# The server of iterative-rag, as a user without rights and with a read-only root: all data are in the volume /data.
#
#   docker build -t iterative-rag .
#   docker run --rm -p 127.0.0.1:8372:8372 --read-only --tmpfs /tmp -v iterative-rag:/data iterative-rag
#
# The token that clients need is shown at the start, or set ITERATIVE_RAG_TOKEN. compose.yaml adds Ollama and Qdrant.

FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY input_wikipedia ./input_wikipedia
COPY iterative_rag ./iterative_rag
RUN python -m venv /opt/iterative-rag \
    && /opt/iterative-rag/bin/pip install --no-cache-dir --disable-pip-version-check '.[files,openai-like,qdrant,serve,wikipedia]'

FROM python:3.13-slim
RUN groupadd --gid 10001 rag \
    && useradd --uid 10001 --gid rag --no-create-home --home-dir /data --shell /usr/sbin/nologin rag \
    && install --directory --owner=rag --group=rag --mode=700 /data
COPY --from=build /opt/iterative-rag /opt/iterative-rag
ENV PATH=/opt/iterative-rag/bin:$PATH \
    HOME=/data \
    ITERATIVE_RAG_HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /data
USER 10001:10001
VOLUME /data
EXPOSE 8372
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8372/healthz', timeout=4)"]
ENTRYPOINT ["iterative-rag"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8372"]
