# Shared by the scripts here: finds Python, makes .venv once, and again when what is installed changes. To be sourced.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Does a Python do? 3.11 or newer, and it can make virtual environments.
does() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# Has it the interpreter in itself? One that loads it as a shared library costs a tenth to a fifth more (docs/performance.md).
is_quick() {
  "$1" -c 'import sys; sys.exit("libpython" in open("/proc/self/maps").read())' 2>/dev/null
}

# $PYTHON, or the newest quick Python that will do, or the newest other one.
find_python() {
  local name candidate found=""
  if [[ -n "${PYTHON:-}" ]]; then
    does "$PYTHON" || die "PYTHON=$PYTHON is no Python 3.11 or newer with its venv module."
    command -v "$PYTHON"
    return
  fi
  for name in python3.14 python3.13 python3.12 python3.11 python3 python; do
    while read -r candidate; do
      does "$candidate" || continue
      found="${found:-$candidate}"
      if is_quick "$candidate"; then
        found="$candidate"
        break 2
      fi
    done < <(type -ap "$name")
  done
  [[ -n "$found" ]] || die "Python 3.11 or newer with its venv module is needed and was not found." \
    "Install it, or name it: PYTHON=/path/to/python3.11 $0"
  printf '%s\n' "$found"
}

# What an installation is made of besides Python as it is: the packages, and the modules that are compiled.
installed_from() {
  local module
  cat "$root/pyproject.toml" "$root/hatch_build.py"
  while read -r module; do
    cat "$root/src/${module//.//}.py"
  done < <(sed -n '/^compiled = \[/,/^\]/s/^ *"\(.*\)",.*/\1/p' "$root/pyproject.toml")
  printf '%s\n' "${PILOTHOUSE_COMPILE:-1}"
}

# prepare [extra]: .venv holds pilothouse, and the packages of the extra. Instant when nothing changed.
prepare() {
  local extra="${1:-}" stamp wanted
  stamp="$venv/.ready${extra:+-$extra}"
  wanted="$(installed_from | cksum)"
  if [[ -x "$venv/bin/python" && -f "$stamp" && "$(cat "$stamp")" == "$wanted" ]]; then
    return
  fi
  if [[ ! -x "$venv/bin/python" ]]; then
    local python
    python="$(find_python)"
    say "making .venv with $python"
    "$python" -m venv "$venv" || die "no virtual environment could be made (on Debian: apt install python3-venv)"
  fi
  say "installing pilothouse${extra:+ and what its tests need} (only this once; with a C compiler it takes a minute or two)"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e "$root${extra:+[$extra]}" >&2
  printf '%s\n' "$wanted" > "$stamp"
  [[ -z "$extra" ]] || printf '%s\n' "$wanted" > "$venv/.ready"
}
