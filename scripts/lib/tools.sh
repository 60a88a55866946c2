# Sourced by the scripts beside it: finds or installs what a clean Debian machine lacks.
# Needs nothing but bash. Says what it does; never asks.

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# need_packages PACKAGE...: installs the Debian packages that are missing, as root or through sudo.
need_packages() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ "${#missing[@]}" -eq 0 ] && return 0
    command -v apt-get >/dev/null || die "please install: ${missing[*]} (no apt-get on this machine)"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            die "these packages are missing and only root can install them; please run:
  sudo apt-get install -y ${missing[*]}"
        fi
    fi
    say "installing: ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# need_rust: checks for cargo of the version that Cargo.toml asks for.
need_rust() {
    if ! command -v cargo >/dev/null && [ -x "$HOME/.cargo/bin/cargo" ]; then
        PATH="$HOME/.cargo/bin:$PATH"
        export PATH
    fi
    command -v cargo >/dev/null || die "Rust is missing; install 1.95 or newer (https://rustup.rs)"
    local have want
    have=$(rustc --version | awk '{print $2}')
    want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    [ "$(printf '%s\n%s\n' "$want" "${have%%-*}" | sort -V | head -n 1)" = "$want" ] ||
        die "Rust $want or newer is needed, this is $have; run: rustup update"
}

# need_linker: Rust links with the C compiler.
need_linker() {
    command -v cc >/dev/null || need_packages gcc libc6-dev
}
