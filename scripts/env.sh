# Sourced by quickstart, test and check: finds Python, makes .venv, installs what pyproject.toml names.
# Nothing is installed again until pyproject.toml changes; the package itself is editable, so `git pull` is enough.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv

say() { printf '%s\n' "$*" >&2; }

# The first Python of 3.11 or later on the PATH.
find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    say "Error: Python 3.11 or later is needed; python3 here is $(python3 --version 2>/dev/null || echo 'not installed')."
    say "Hint:  install it (apt install python3.12, brew install python, or uv python install 3.12) and run this again."
    return 2
}

make_venv() {
    local python
    python=$(find_python)
    rm -rf "$venv"
    if command -v uv >/dev/null; then
        uv venv --quiet --python "$python" "$venv"
    elif ! "$python" -m venv "$venv"; then
        say "Error: $python cannot make a virtual environment."
        say "Hint:  apt install python3-venv, or install uv, and run this again."
        return 2
    fi
}

install() {
    if command -v uv >/dev/null; then
        uv pip install --quiet --python "$venv/bin/python" "$@"
    else
        # Dependency groups need pip 25.1.
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}

# ensure_env user|dev: the environment, up to date with pyproject.toml. A dev environment serves users too.
ensure_env() {
    local kind=$1 stamp=$venv/.installed-$1 state
    state="$root $(cksum <"$root/pyproject.toml")"
    if [ -x "$venv/bin/python" ]; then
        if [ "$(cat "$stamp" 2>/dev/null)" = "$state" ]; then return; fi
        if [ "$kind" = user ] && [ "$(cat "$venv/.installed-dev" 2>/dev/null)" = "$state" ]; then return; fi
    fi
    # A moved checkout or an interrupted `venv` leaves a Python that does not start.
    if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        make_venv
    fi
    say "Installing into .venv (once; a minute or two) ..."
    case $kind in
    user) install --editable "$root" ;;
    dev) (cd "$root" && install --editable '.[openai-like,evaluate,wikipedia,files,zim,dumps,web,qdrant,ray,serve]' --group dev) ;;
    esac
    printf '%s\n' "$state" >"$stamp"
}
