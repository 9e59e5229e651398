# Build:  docker build --build-arg UID="$(id -u)" -t overlaybench .
# Run:    docker run --rm -v "$PWD:/data" overlaybench solve subscriptions.csv --problem min-tco --method gm
FROM debian:bookworm-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates default-jre-headless git make procps python3 python3-venv \
    && cd / && rm -rf var/lib/apt/lists/*

# The user's own number, so that what a command writes to /data is the user's.
ARG UID=1000
RUN useradd --uid "$UID" --create-home overlaybench && install --directory --owner="$UID" /overlaybench /data
USER overlaybench
WORKDIR /overlaybench
COPY --chown=overlaybench . .
RUN make set-up && rm -rf ~/.cache

ENV PATH=/overlaybench/.venv/bin:$PATH
WORKDIR /data
ENTRYPOINT ["overlaybench"]
CMD ["--help"]
