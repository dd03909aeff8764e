# JupyterLab with the lessons of symmrepl on the cpu device: docs/container.md. make container-try runs these lines, which are of the kinds that
# it knows: FROM, COPY, ENV, WORKDIR, RUN, USER, EXPOSE, CMD; one a line.
FROM python:3.13 AS build
COPY --from=golang:1.26 /usr/local/go /usr/local/go
ENV PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin
COPY . /src
WORKDIR /src
RUN ./.ci/wheel ziglang==0.17.1 /dist "$(uname -m)"

FROM python:3.13-slim
COPY --from=build /dist /dist
RUN python3 -m pip install --no-cache-dir "$(ls /dist/symmrepl-*.whl)[cpu]" jupyterlab==4.6.6
ENV HOME=/home/lab
RUN mkdir -p /home/lab && cp -r "$(python3 -c 'import os, symmrepl; print(os.path.dirname(symmrepl.__file__))')/notebooks" /home/lab/notebooks && chmod -R a+rwX /home/lab
WORKDIR /home/lab/notebooks
USER 1000
EXPOSE 8888
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--port=8888", "--no-browser"]
