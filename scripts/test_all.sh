#!/bin/sh
# The whole suite, then the fast suite as a normal user and on the other supported Pythons.
# What cannot be had on this machine is skipped by name; what runs must pass.
set -eu
cd "$(dirname "$0")/.."
export TESTED

# Packages whose programs tests start: the sandbox, what tools that change things act on, and a browser.
packages=""
for pair in bwrap:bubblewrap runsv:runit supervisord:supervisor service:init-system-helpers cron:cron \
    crontab:cron openssl:openssl useradd:passwd \
    chromium:chromium npm:npm; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || packages="$packages ${pair#*:}"
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && [ -n "$packages" ]; then
    echo "== installing from Debian:$packages" >&2
    { apt-get update -q && apt-get install -qy --no-install-recommends $packages; } >/dev/null 2>&1 ||
        echo "== could not install$packages: their tests are skipped" >&2
fi

# If `make test` has just passed on exactly these files, run only the rest, and the property tests
# again: `make test` tries fewer examples of each.
changed() {
    git ls-files -z --cached --others --exclude-standard |
        xargs -0 sh -c 'find "$@" -maxdepth 0 -newer "$TESTED"' _
}
selected="not bench"
if [ -e "$TESTED" ] && [ -z "$(changed)" ]; then
    selected="(slow or seconds or further_row or hypothesis) and not bench"
fi
echo "== every test ($selected)" >&2
# A test has 900 s here: some take minutes, and twice as long beside a local model.
$PYTEST -n 4 --dist worksteal --timeout=900 --durations=30 --durations-min=10 -m "$selected"

echo "== the fast suite as a normal user" >&2
sh scripts/test_as_user.sh

echo "== the fast suite on other Pythons" >&2
sh scripts/test_other_pythons.sh
