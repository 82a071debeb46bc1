#!/bin/sh
# Run what depends on the Python version on each supported one that this machine has besides the one
# in use: the fast tests but those of the command line from outside. CI's matrix runs everything on
# each.
set -eu
unset PULSUS_FORBID_SKIPS # the other Pythons have no extras
used=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
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
    venv=.venv-$version
    make -s VENV="$venv" PYTHON="$found" "$venv/.dev"
    "$venv/bin/python" -m pytest -q -n 3 --dist worksteal \
        -m "not slow and not seconds and not further_row and not bench" \
        tests/unit tests/property tests/fuzz tests/catalogue tests/golden
done
