# syntax=docker/dockerfile:1
# One image for each manager, for every platform from one run on any of them:
#   docker buildx build --build-arg PROGRAM=lws-manager --platform linux/amd64,linux/arm64 .
# The compiler runs on the builder's own platform and compiles for the target's. The
# same sources give the same program: no paths, no build id, no time.
ARG GO_VERSION=1.26

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY apis apis
COPY cmd cmd
COPY controllers controllers
ARG PROGRAM
ARG VERSION=unknown
ARG TARGETOS=linux
ARG TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -tags grpcnotrace -ldflags "-s -w -buildid= -X main.version=$VERSION" -o /manager "./cmd/$PROGRAM"

FROM gcr.io/distroless/static:nonroot
ARG PROGRAM
ARG VERSION=unknown
LABEL org.opencontainers.image.title=$PROGRAM \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.licenses=Apache-2.0
COPY --from=build /manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
