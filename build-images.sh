#!/usr/bin/env bash
# Builds the image of each program that is named, for all of $PLATFORMS, with the first
# builder that this machine has and that works. PUSH=true pushes them: docker keeps
# images of several platforms nowhere but in a registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

platforms=${PLATFORMS// /,}

# image is the name of a program's image: lws-manager is lws.
image() { echo "$REGISTRY/${1%-manager}:$VERSION"; }

with_docker() {
  local output=(--output type=cacheonly)
  [[ $platforms == *,* ]] || output=(--load)
  [[ ${PUSH:-} != true ]] || output=(--push)
  docker buildx build --platform "$platforms" --provenance=true --sbom=true "${output[@]}" \
    --build-arg PROGRAM="$1" --build-arg VERSION="$VERSION" --tag "$(image "$1")" .
}

# with_podman is for podman and buildah, which have the same options.
with_podman() {
  "$builder" build --platform "$platforms" --timestamp 0 --manifest "$(image "$1")" \
    --build-arg PROGRAM="$1" --build-arg VERSION="$VERSION" .
  [[ ${PUSH:-} != true ]] || "$builder" manifest push --all "$(image "$1")"
}

if docker buildx version >/dev/null 2>&1 && docker info >/dev/null 2>&1; then
  build=with_docker
elif builder=$(command -v podman) && "$builder" info >/dev/null 2>&1; then
  build=with_podman
elif builder=$(command -v buildah) && "$builder" info >/dev/null 2>&1; then
  build=with_podman
else
  echo "make image: neither docker with buildx, nor podman, nor buildah works here; make programs builds what the images hold" >&2
  exit 1
fi
for program in "$@"; do
  echo "$(image "$program") for $platforms"
  "$build" "$program"
done
