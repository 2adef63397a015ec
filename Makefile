# Needs Python 3.11+, make and git. Everything is written to this checkout and to Muster's cache, nowhere else.
.POSIX:
.PHONY: help env assets run unit test test-report test-schedulers lint lint-workflows plane-image test-container kind-image test-kind \
  mutation-test soak bench clean prove endure test-subjects

PYTHON =
ARGS =
READY = .venv/.ready
CACHE = "$${MUSTER_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/muster}"
RECENT = import sys; sys.exit(sys.version_info < (3, 11))

help:
	@echo 'make run              run the suite on the default scheduler; ARGS="…" are options of muster run'
	@echo 'make unit             unit tests of Muster: no control plane, under a minute'
	@echo 'make test             all tests of Muster'
	@echo 'make test-report      tests of reports, in a browser as well; needs Chromium'
	@echo 'make test-schedulers  run the suite on every built-in scheduler, as a matrix'
	@echo 'make env              only set up .venv, so that .venv/bin/muster works'
	@echo 'make assets           only find, download or build the binaries of the control plane'
	@echo 'make lint             ruff, mypy, import-linter'
	@echo 'make lint-workflows   actionlint'
	@echo 'make plane-image      the embedded control plane as an image, for --cluster container'
	@echo 'make test-container   test that image; starts a container engine where there is none'
	@echo 'make kind-image       a node image for kind, from package registries alone'
	@echo 'make test-kind        test a real kind cluster; starts a container engine where there is none'
	@echo 'make mutation-test    run the suite on broken schedulers, where it must fail, and on correct variants'
	@echo 'make soak             kills, bad connections and repetitions, for hours'
	@echo 'make bench            measurements'
	@echo 'make clean            remove what the others made here; the cache of binaries stays'

env: $(READY)

# pip asks rustc for its version, and where rustc belongs to rustup that alone would make a ~/.rustup.
# The copy of the suite that an editable install leaves in site-packages would only go stale: the checkout is used.
$(READY): requirements.lock pyproject.toml
	@.venv/bin/python -c '$(RECENT)' 2>/dev/null || rm -rf .venv; \
	for python in .venv/bin/python $(PYTHON) python3.13 python3.12 python3.11 python3; do \
	  if "$$python" -c '$(RECENT)' 2>/dev/null; then \
	    echo "Setting up .venv with $$("$$python" --version) …"; \
	    export PIP_CACHE_DIR=$(CACHE)/pip PIP_DISABLE_PIP_VERSION_CHECK=1; \
	    test -d "$$HOME/.rustup" || export RUSTUP_HOME=$(CACHE)/rustup; \
	    test "$$python" = .venv/bin/python || "$$python" -m venv .venv || exit 1; \
	    .venv/bin/python -m pip install --quiet --require-hashes -r requirements.lock || exit 1; \
	    .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation -e . || exit 1; \
	    rm -rf .venv/lib/python3*/site-packages/muster; \
	    touch $(READY); \
	    exit 0; \
	  fi; \
	done; \
	echo 'No Python 3.11 or newer found: install one, or name it with: make PYTHON=/path/to/python3 …' >&2; exit 1

assets: env
	@.venv/bin/muster assets

run: env
	@.venv/bin/muster run $(ARGS)

unit: env
	.venv/bin/python -m pytest tests/unit -q -n 2 --dist worksteal

test: env
	@.venv/bin/muster assets kube-scheduler volcano koordinator actionlint plane-init
	@.venv/bin/python -m tests.mutation.sample
	.venv/bin/python -m pytest tests -q -n 2 --dist worksteal

test-report: env assets
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	echo 'No Chromium on PATH: install it (on Debian: apt-get install chromium), then make test-report again' >&2; exit 1
	.venv/bin/python -m pytest tests/unit/report tests/e2e/test_report_in_browser.py -q -n 2 -rs

lint: env
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

lint-workflows: env
	@linter="$$(.venv/bin/muster assets actionlint | sed 's/^actionlint *//')" || exit 1; \
	"$$linter" -shellcheck .venv/bin/shellcheck -pyflakes=

plane-image: env
	@archive="$$(.venv/bin/python ci/plane-image/assemble.py)" || exit 1; \
	if docker version >/dev/null 2>&1; then docker load --input "$$archive"; \
	else echo "No Docker answers here. Where one does: docker load --input $$archive"; fi

# With the engine that answers, or one that is started; that one has no network, so binaries are installed before.
test-container: env
	@.venv/bin/muster assets kube-apiserver kube-controller-manager etcd kwok plane-init >/dev/null
	@.venv/bin/python ci/kind-engine/run.py sh -c \
	  'make plane-image && .venv/bin/python -m pytest tests/e2e/test_container_cluster.py -q -rs'

# The path of an archive for `muster run --cluster kind --kind-image`. Needs root, as debootstrap does.
kind-image: env
	@.venv/bin/python ci/kind-image/build.py

test-kind: env
	@ci/kind-test

# A failed verdict is a finding, not a failure of this target.
test-schedulers: env
	@.venv/bin/muster matrix --workers 2 --all

mutation-test: env assets
	@.venv/bin/python -m tests.mutation.mutation_test

# The long versions of what `make test` does: some hours.
soak: env assets
	MUSTER_HYPOTHESIS=thorough .venv/bin/python -m pytest tests/unit/core/test_state_machine.py tests/unit/core/test_brute_force.py -q
	.venv/bin/python -m bench.chaos kills 200
	.venv/bin/python -m bench.chaos errors
	.venv/bin/python -m bench.chaos large-gang
	.venv/bin/python -m bench.existing_cluster audit kills 50
	.venv/bin/python -m bench.black_box
	.venv/bin/muster run --repeat 20 -k 'PRE or TNT or GNG or JPR or QUE'
	.venv/bin/muster run --repeat 20 -k 'PRE or TNT or GNG or JPR or QUE' --workers 2

bench: env assets
	@for measurement in recording core decisions scheduler memory "operator load" cluster_start "report html" "report writing"; do \
	  .venv/bin/python -m bench.$$measurement || exit 1; \
	done

clean:
	rm -rf .venv results dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Names of version 0.1, also listed in muster/cli/old_names.py.
prove:
	@echo 'make prove was renamed: use make mutation-test' >&2; exit 2
endure:
	@echo 'make endure was renamed: use make soak' >&2; exit 2
test-subjects:
	@echo 'make test-subjects was renamed: use make test-schedulers' >&2; exit 2
