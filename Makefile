# Needs Python 3.11+, make and git. Everything is written to this checkout and to Muster's cache, nowhere else.
.POSIX:
.PHONY: help env assets run test test-subjects lint prove bench clean

PYTHON =
ARGS =
SUBJECTS = reference kube-scheduler volcano volcano:preempt volcano:reclaim koordinator koordinator:preemption-off
READY = .venv/.ready
CACHE = "$${MUSTER_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/muster}"
RECENT = import sys; sys.exit(sys.version_info < (3, 11))

help:
	@echo 'make run     run the suite against the default scheduler; ARGS="…" goes to muster run'
	@echo 'make test    test Muster itself'
	@echo 'make test-subjects  judge every scheduler that is built in'
	@echo 'make env     only set up .venv, so that .venv/bin/muster works'
	@echo 'make assets  only find, download or build the control plane'
	@echo 'make lint    ruff, mypy, import-linter'
	@echo 'make prove   run the suite on broken schedulers: every scenario must go red on one of them'
	@echo 'make bench   measurements'
	@echo 'make clean   remove what the others made here; the cache of binaries stays'

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

test: env
	@.venv/bin/muster assets kube-scheduler volcano koordinator
	.venv/bin/python -m pytest tests -q -n 2

lint: env
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

# Everything on every scheduler that is built in; a red verdict is a finding, not a failure of this target.
test-subjects: env
	@for scheduler in $(SUBJECTS); do \
	  .venv/bin/muster run --scheduler "$$scheduler" --workers 2; test $$? -lt 2 || exit 2; \
	done

prove: env assets
	@.venv/bin/python -m tests.prove

bench: env assets
	@for measurement in chronicle core scheduler "operator crowd" plane_cycles; do \
	  .venv/bin/python -m bench.$$measurement || exit 1; \
	done

clean:
	rm -rf .venv results dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
