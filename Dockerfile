# syntax=docker/dockerfile:1
# A release pins both by digest: --build-arg BUILD_IMAGE=…@sha256:… --build-arg BASE_IMAGE=…@sha256:…
ARG BUILD_IMAGE=node:24-bookworm-slim
# All that is needed of it is libc, libstdc++ and certificates: a release passes a distroless image (cc-debian12), which has no shell. Node comes
# from the build image, so that what runs is what the suite ran on.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY toolchain toolchain
RUN npm ci --ignore-scripts
COPY . .
# With the image's own Node: npm would put the checkout's first in PATH.
RUN /usr/local/bin/node scripts/image-root.mjs /image

FROM ${BASE_IMAGE}
# Owners are kept: everything is root's but the state.
COPY --from=build /image /
ENV NODE_ENV=production CARDEA_STATE=/var/lib/cardea/state
USER 65532:65532
WORKDIR /app
EXPOSE 8642 9464
# The launcher becomes the daemon: the first process, which gets the container's signals, and its exit code is the container's.
ENTRYPOINT ["/usr/local/bin/node", "--disable-warning=ExperimentalWarning", "/app/launch.mjs"]
CMD ["serve", "--config", "/etc/cardea/cardea.yaml"]
