#!/bin/sh
# Run what depends on the user as an ordinary one. As root: in a copy that uid 65534 owns, with an
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
venv=$root/venv project=$root/project

# The tracked files keep their times here, so that what has been compiled from them stays valid.
git -c safe.directory="$PWD" clone -q . "$project"
{
    git ls-files -z
    find agents tests scripts -name '*.pyc' -print0
} | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$project"

# Root installs the venv, and it stays read-only for the user.
describe='import sys, sysconfig; print(sysconfig.get_config_var("SOABI"))'
if [ "$("$system" -c "$describe")" = "$("$PYTHON" -c "$describe")" ]; then
    # The same version of Python: the packages that are installed here serve there too.
    "$system" -m venv --without-pip "$venv"
    packages='import sysconfig; print(sysconfig.get_path("purelib"))'
    here=$("$PYTHON" -c 'import sys; print(sys.prefix)')
    there=$("$venv/bin/python" -c "$packages")
    have=$("$PYTHON" -c "$packages")
    cp -al "$have/." "$there" 2>/dev/null || cp -a "$have/." "$there" # links: on one file system only
    cp -an "$here/bin/." "$venv/bin"
    grep -rlIF "#!$here/" "$venv/bin" | xargs sed -i "1s|^#!$here/|#!$venv/|"
    sed -i "s|^$PWD/|$project/|" "$there"/*.pth # where the editable Pulsus lies
else
    "$PYTHON" -m pip install -q --disable-pip-version-check virtualenv
    "$PYTHON" -m virtualenv -q -p "$system" "$venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --upgrade 'pip>=25.1'
    (cd "$project" && "$venv/bin/python" -m pip install -q -e . --group dev)
fi
"$venv/bin/python" -c 'import sys, pulsus; sys.exit(not pulsus.__file__.startswith(sys.argv[1]))' "$project/"
mkdir "$root/home"
chown -R 65534:65534 "$project" "$root/home"
cases=$(cd .. && pwd)/shared/cases
cd "$project"

# Left out: files of tests of values alone, in folders of code that is pure. A file that names
# anything of the system runs, and so does every folder that is not listed here.
system_words='\b(os|sys|shutil|subprocess|tempfile|tmp_path\w*|monkeypatch|sandbox\w*|executed|project'
system_words="$system_words"'|pulsus_here|socket|signal|Path|capsys|platform|shipped)\b'
left_out=$(cd tests && grep -rLE --include='test_*.py' "$system_words" property unit/adoption unit/cli \
    unit/commands unit/core/arguments unit/core/compose unit/core/contract unit/core/memory \
    unit/core/python_source unit/core/rankers unit/core/retrieval unit/core/text unit/gates unit/llm \
    unit/routing | sed 's|^|--ignore=tests/|')
# shellcheck disable=SC2086 -- one option for each file
setpriv --reuid=65534 --regid=65534 --clear-groups env -i \
    PATH="$venv/bin:/usr/local/bin:/usr/bin:/bin" HOME="$root/home" LANG=C.UTF-8 \
    PULSUS_CASES="${PULSUS_CASES:-$cases}" \
    "$venv/bin/python" -m pytest -q -n 3 --dist worksteal -p no:cacheprovider $left_out \
    -m "not slow and not bench and not further_row and (sandbox or not seconds)"
