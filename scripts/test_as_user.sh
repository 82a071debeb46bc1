#!/bin/sh
# Run the fast suite as an ordinary user. As root: in a copy that uid 65534 owns, with an
# interpreter that it may read (root's own may lie under a closed home).
set -eu
if [ "$(id -u)" != 0 ]; then
    echo "skipped: already a normal user, the suite has just run as one" >&2
    exit 0
fi
system=/usr/bin/python3
if ! "$system" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "skipped: $system is missing or older than 3.11" >&2
    exit 0
fi
root=$(mktemp -d /tmp/pulsus-user.XXXXXX)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
"$PYTHON" -m pip install -q --disable-pip-version-check virtualenv
"$PYTHON" -m virtualenv -q -p "$system" "$root/venv"
git -c safe.directory="$PWD" clone -q . "$root/project"
# The venv is installed as root and stays read-only for the user.
"$root/venv/bin/python" -m pip install -q --disable-pip-version-check --upgrade 'pip>=25.1'
(cd "$root/project" && "$root/venv/bin/python" -m pip install -q -e . --group dev)
mkdir "$root/home"
chown -R 65534:65534 "$root/project" "$root/home"
cases=$(cd .. && pwd)/shared/cases
cd "$root/project"
setpriv --reuid=65534 --regid=65534 --clear-groups env -i \
    PATH="$root/venv/bin:/usr/local/bin:/usr/bin:/bin" HOME="$root/home" LANG=C.UTF-8 \
    PULSUS_CASES="${PULSUS_CASES:-$cases}" \
    "$root/venv/bin/python" -m pytest -q -n 3 --dist worksteal -m "not slow and not bench and (sandbox or not seconds)" -p no:cacheprovider
