# Shared by the scripts here: finds Python, makes .venv once, and again when pyproject.toml changes. To be sourced.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The newest Python that will do, or $PYTHON.
find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  die "Python 3.11 or newer is needed and was not found. Install it, or name it: PYTHON=/path/to/python3.11 $0"
}

# prepare [extra]: .venv holds pilothouse, and the packages of the extra. Instant when nothing changed.
prepare() {
  local extra="${1:-}" stamp wanted
  stamp="$venv/.ready${extra:+-$extra}"
  wanted="$(cksum < "$root/pyproject.toml")"
  if [[ -x "$venv/bin/python" && -f "$stamp" && "$(cat "$stamp")" == "$wanted" ]]; then
    return
  fi
  if [[ ! -x "$venv/bin/python" ]]; then
    local python
    python="$(find_python)"
    say "making .venv with $python"
    "$python" -m venv "$venv" || die "no virtual environment could be made (on Debian: apt install python3-venv)"
  fi
  say "installing pilothouse${extra:+ and what its tests need} (only this once)"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e "$root${extra:+[$extra]}" >&2
  printf '%s\n' "$wanted" > "$stamp"
  [[ -z "$extra" ]] || printf '%s\n' "$wanted" > "$venv/.ready"
}
