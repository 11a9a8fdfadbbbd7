# The gateway in a container: docs/operating.md#container. compose.yaml runs it with a read-only root.
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /build && python -m venv --without-pip /opt/privacy-gateway
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN /build/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/build.txt \
    && /build/bin/pip --python /opt/privacy-gateway/bin/python install --no-cache-dir --no-deps --require-hashes -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE run_proxy.py ./
COPY addons addons
COPY gateway gateway
COPY policies policies
COPY certs/README.md certs/
COPY requirements/sbom.cdx.json requirements/
ARG SOURCE_DATE_EPOCH
RUN /build/bin/python -m hatchling build --target wheel --directory /dist \
    && /build/bin/pip --python /opt/privacy-gateway/bin/python install --no-cache-dir --no-deps --no-index /dist/*.whl

FROM python:3.13-slim
LABEL org.opencontainers.image.title="Privacy Gateway" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/privacy-gateway /opt/privacy-gateway
# The one folder that is written to, besides /tmp. A new volume takes over its owner.
RUN install --directory --mode 0700 --owner 10001 --group 10001 /var/lib/privacy-gateway
VOLUME /var/lib/privacy-gateway
# Loopback would be the container's own. Whoever publishes the ports accepts the risks by name (SVC_ACCEPT_RISKS).
ENV PATH=/opt/privacy-gateway/bin:$PATH \
    HOME=/var/lib/privacy-gateway \
    SVC_DATA_DIR=/var/lib/privacy-gateway/data \
    SVC_CERTS_DIR=/var/lib/privacy-gateway/certs \
    SVC_HOST=0.0.0.0 \
    SVC_PROXY_HOST=0.0.0.0 \
    SVC_PROXY_KEY=true \
    SVC_WEB=false
USER 10001:10001
EXPOSE 8000 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["privacy-gateway", "healthcheck"]
ENTRYPOINT ["privacy-gateway"]
CMD ["serve"]
