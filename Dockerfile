FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X github.com/holdfast-ai/holdfast/internal/build.Version=${VERSION}" -o /holdfast .

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git curl tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 holdfast \
 && chmod 0755 /home/holdfast \
 && install -d -o holdfast -g holdfast -m 0700 /home/holdfast/.holdfast /workspace
COPY --from=build /holdfast /usr/local/bin/holdfast
USER holdfast
ENV HOLDFAST_HOME=/home/holdfast/.holdfast
VOLUME /home/holdfast/.holdfast
# Commands of the agent survive their worker but not the container. tini reaps
# their child processes.
ENTRYPOINT ["tini", "--", "holdfast"]
CMD ["up"]
