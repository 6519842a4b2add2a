# Chorus in a container: one static binary that runs as a user without rights, and its data in /data.
#
#   docker build --tag chorus .
#   docker run --name chorus --publish 127.0.0.1:7600:7600 --volume chorus:/data chorus
#   docker exec chorus chorus channel create ops
#
# docs/install.md says more. compose.yaml puts Caddy with HTTPS in front; compose.hosts.yaml runs two hosts.

FROM rust:1.95-alpine AS build
# The image has this toolchain; without the variable, rustup would fetch what only developers need.
ENV RUSTUP_TOOLCHAIN=1.95.0
# hadolint ignore=DL3018
RUN apk add --no-cache build-base ca-certificates-bundle linux-headers
WORKDIR /src
COPY . .
# Rust on Alpine links everything statically. The caches make a second build quick.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package chorus && \
    install -D -m 755 target/release/chorus /image/usr/bin/chorus
# All that a host needs beside its binary: the authorities that the world trusts, a user, and folders.
RUN install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt && \
    echo 'chorus:x:7600:7600:Chorus:/data:/sbin/nologin' > /image/etc/passwd && \
    echo 'chorus:x:7600:' > /image/etc/group && \
    install -d -m 1777 /image/tmp && \
    install -d -m 700 /data

FROM scratch
COPY --from=build /image/ /
# A volume that is made for it gets this owner.
COPY --from=build --chown=7600:7600 /data /data
# Several hosts share a volume for their keys (compose.hosts.yaml).
COPY --from=build --chown=7600:7600 /data /keys
USER 7600:7600
ENV CHORUS_DATA=/data CHORUS_LISTEN=0.0.0.0:7600
WORKDIR /data
VOLUME /data
EXPOSE 7600
# There is no shell and no curl: the binary asks itself.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["/usr/bin/chorus", "health"]
ENTRYPOINT ["/usr/bin/chorus"]
CMD ["serve"]
