#!/bin/sh
# Run pytest with these arguments as an ordinary user. As root: as uid 65534 in a copy of the project
# that it owns, with the Python and the packages of $PYTHON.
set -eu
if [ "$(id -u)" != 0 ]; then
    exec "$PYTHON" -m pytest -q -n 3 --dist worksteal --rows some "$@"
fi
root=$(mktemp -d /tmp/pulsus-user.XXXXXX)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
venv=$root/venv project=$root/project

# The tracked files keep their times here, so that what has been compiled from them stays valid.
git -c safe.directory="$PWD" clone -q . "$project"
{
    git ls-files -z
    find agents tests scripts -name '*.pyc' -print0
} | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$project"

# Root makes the venv, and it stays read-only for the user.
asked() { "$PYTHON" -c "import sys, sysconfig; print($1)"; }
here=$(asked sys.prefix) base=$(asked sys.base_prefix) have=$(asked 'sysconfig.get_path("purelib")')
"$(asked sys._base_executable)" -m venv --without-pip "$venv"
there=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -al "$have/." "$there" 2>/dev/null || cp -a "$have/." "$there" # links: on one file system only
cp -an "$here/bin/." "$venv/bin"
grep -rlIF "#!$here/" "$venv/bin" | xargs sed -i "1s|^#!$here/|#!$venv/|"
sed -i "s|^$PWD/|$project/|" "$there"/*.pth # where the editable Pulsus lies
"$venv/bin/python" -c 'import sys, pulsus; sys.exit(not pulsus.__file__.startswith(sys.argv[1]))' "$project/"
mkdir "$root/home" "$root/base"
chown -R 65534:65534 "$project" "$root/home"
cases=$(cd .. && pwd)/shared/cases
cd "$project"

# Root's own Python may lie in a closed home. The user sees an open folder there, with it alone.
closed=$(asked 'next((p for p in [*reversed(__import__("pathlib").Path(sys.base_prefix).parents)]
    if not p.stat().st_mode & 1), "")')
open=:
if [ -n "$closed" ]; then
    open='mount --bind "$base" "$aside" && mount -t tmpfs -o mode=755 tmpfs "$closed" &&
        mkdir -p "$base" && mount --move "$aside" "$base"'
fi
base=$base aside=$root/base closed=$closed unshare --mount --propagation private sh -euc "$open"'
    exec setpriv --reuid=65534 --regid=65534 --clear-groups env -i "$@"' sh \
    PATH="$venv/bin:/usr/local/bin:/usr/bin:/bin" HOME="$root/home" LANG=C.UTF-8 \
    PULSUS_CASES="${PULSUS_CASES:-$cases}" \
    "$venv/bin/python" -m pytest -q -n 3 --dist worksteal -p no:cacheprovider --rows some "$@"
