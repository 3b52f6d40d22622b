# syntax=docker/dockerfile:1
# A release pins both by digest: --build-arg BUILD_IMAGE=…@sha256:… --build-arg BASE_IMAGE=…@sha256:…
ARG BUILD_IMAGE=node:24-bookworm-slim
# All that is needed is libc, libstdc++ and certificates: a release passes a distroless image (cc-debian12), without a shell.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY toolchain toolchain
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY scripts scripts
COPY src src
RUN node scripts/build.mjs

FROM ${BUILD_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY toolchain toolchain
# The checkout's own Node is a development dependency: it stays behind here.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/cardea-toolchain && mkdir /state

FROM ${BASE_IMAGE}
WORKDIR /app
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
# The configuration's folder is usually a read-only mount; state belongs to the user that runs.
COPY --from=dependencies --chown=65532:65532 /state /var/lib/cardea
ENV NODE_ENV=production CARDEA_STATE=/var/lib/cardea
USER 65532:65532
EXPOSE 8642 9464
# Node itself is the first process: it gets the container's signals, and its exit code is the container's.
ENTRYPOINT ["/usr/local/bin/node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/cardea/cardea.yaml"]
