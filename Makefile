# make demo       profile PPO on Brax, then report     make lint   ruff and mypy
# make test       the fast tests                       make lock   choose new exact versions
# make test-slow  the others                           make clean  remove what these targets made
# make frontend   build the page of the TensorBoard tab (Node 20.19 or newer)
# make screenshots  take the pictures of the tab, of the run in LOGDIR (Chromium)
# make gpu-check  does it work on this machine's GPU? Installs nothing; PYTHON=… is the one with your jax

VENV ?= .venv
LOGDIR ?= demo_run
DEMO_ARGS ?=
PYTEST_ARGS ?= -n 2 --dist loadfile

# The first Python that is new enough; `make PYTHON=…` says otherwise.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
OLDEST_PYTHON ?= python3.11

BIN := $(VENV)/bin
FRONTEND := rlscope_jax/tb_plugin/frontend
# pip would compile every module of every package; Python compiles the few that are imported, when they are.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check \
	--constraint requirements.lock

.PHONY: demo test test-slow gpu-check lint frontend screenshots lock clean

demo: $(VENV)/installed-demo
	$(BIN)/python examples/brax_ppo/train.py --logdir $(LOGDIR) $(DEMO_ARGS)
	$(BIN)/rlscope-jax report $(LOGDIR)

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

gpu-check: PYTHON = python3
gpu-check:
	PYTHONPATH=. $(PYTHON) -m gpu_check $(GPU_CHECK_ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

frontend:
	cd $(FRONTEND) && npm ci --no-audit --no-fund && npm run build

screenshots: $(VENV)/installed-dev
	$(BIN)/python docs/images/screenshots.py $(LOGDIR)

lock: | $(BIN)/python
	$(BIN)/python .ci/lock.py $(PYTHON) $(OLDEST_PYTHON)

clean:
	rm -rf $(VENV) $(LOGDIR) $(FRONTEND)/node_modules build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/installed-demo: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing the demo's packages into $(VENV) (about a minute)"
	@$(PIP_INSTALL) --editable '.[brax]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing the development packages into $(VENV) (about a minute)"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $@

$(BIN)/python:
	@test -n '$(PYTHON)' || { \
		echo 'rlscope-jax needs Python 3.11 or newer; none was found. If you have one: make PYTHON=/its/path' >&2; \
		exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { \
		echo 'rlscope-jax needs Python 3.11 or newer, and $(PYTHON) is not.' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo '$(PYTHON) cannot make virtual environments. On Debian or Ubuntu: apt install python3-venv' >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV)
