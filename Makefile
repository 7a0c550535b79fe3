.DEFAULT_GOAL := help
.PHONY: help install run test check lint-lua types bench bench-compare soak clean

# The first Python that can build a virtual environment, and a Neovim that is new enough.
PYTHON ?= $(shell for python in python3.14 python3.13 python3.12 python3.11 python3.10 python3; do \
	$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
	&& echo $$python && break; done)
NEOVIM ?= $(shell nvim --headless --clean +'exe has("nvim-0.10") ? "quit" : "cquit"' >/dev/null 2>&1 \
	&& command -v nvim || echo $(CURDIR)/.venv/bin/nvim)

BIN := .venv/bin
STYLUA := $(shell command -v stylua || echo .venv/stylua/node_modules/.bin/stylua)
NPM_STYLUA := npm install --no-save --prefix .venv/stylua @johnnymorganz/stylua-bin@2.5.2
comma := ,
# Where it is set, each of the tests' processes would compile all anew.
unexport PYTHONDONTWRITEBYTECODE
EXTRAS = dev$(if $(findstring /.venv/,$(NEOVIM)),$(comma)neovim)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: .venv/installed ## Build .venv, with Neovim if there is none >= 0.10

.venv/installed: pyproject.toml
	@echo 'Building .venv: about a minute …'
	@if command -v uv >/dev/null; then \
		uv venv --quiet --allow-existing --python '>=3.10' .venv && \
		uv pip install --quiet --compile-bytecode --python .venv --editable '.[$(EXTRAS)]'; \
	elif [ -n '$(PYTHON)' ]; then \
		$(PYTHON) -m venv .venv && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'; \
	else \
		echo 'winnow needs Python 3.10 or newer with its venv module (or uv); please install it.' >&2; \
		exit 1; \
	fi
	@$(BIN)/python -m compileall -q python rplugin
	@touch $@

run: install ## Chat: with Claude if you are logged in, else with the built-in demo agent
	@if [ -t 0 ] && [ -t 1 ]; then \
		$(NEOVIM) --clean -u tests/minimal_init.lua --cmd 'let g:winnow = {"agent": "auto"}' +Winnow; \
	else \
		$(NEOVIM) --headless --clean -u tests/minimal_init.lua +'lua require("winnow.demo").play()'; \
	fi

test: install ## Run every test: unit, app and end to end
	NEOVIM=$(NEOVIM) $(BIN)/pytest --numprocesses 4 --dist worksteal

check: install lint-lua ## Check style, types, layers, Lua and help tags
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/luacats.py --check

lint-lua: install
	$(NEOVIM) -l tests/check.lua
	@if command -v luacheck >/dev/null; then luacheck --quiet .; else \
		echo 'luacheck skipped: it is missing (apt install lua-check, or luarocks install luacheck)'; \
	fi
	@if command -v $(STYLUA) >/dev/null || $(NPM_STYLUA) >/dev/null 2>&1; then $(STYLUA) --check .; else \
		echo 'stylua skipped: it is missing, and npm could not install it'; \
	fi

types: install ## Write the protocol's messages as types for Lua
	$(BIN)/python scripts/luacats.py

bench: install ## Measure what a user waits for; ONLY="chat runs": these sections of it
	PATH=$(dir $(NEOVIM)):$$PATH $(BIN)/python -m tests.bench $(ONLY)

bench-compare: install ## Show the last two runs of bench as ratios; WITH=FILE: the last one and this
	$(BIN)/python -m tests.bench --compare $(WITH)

soak: install ## Kill and stop it again and again, and see that nothing is lost; prompt twenty chats at once
	NEOVIM=$(NEOVIM) $(BIN)/pytest -m "hypothesis or soak" --hypothesis-profile soak --timeout 0
	NEOVIM=$(NEOVIM) $(BIN)/python -m tests.soak
	NEOVIM=$(NEOVIM) $(BIN)/python -m tests.endurance.day
	NEOVIM=$(NEOVIM) $(BIN)/python -m tests.endurance.load
	NEOVIM=$(NEOVIM) $(BIN)/python -m tests.crowd

clean: ## Remove everything that make has built
	rm -rf .venv .bench .*_cache .hypothesis doc/tags
