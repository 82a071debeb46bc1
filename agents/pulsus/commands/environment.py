"""The environment of an allowed command: fixed settings, and paths that lead to a private folder.

The variables for git keep it from running the programs that a repository's settings name: they
come after these settings, and win. No variable can take away `filter.NAME.clean`, because NAME can
be anything (docs/commands.md, Known limits).

A read may keep a cache, a history or a log. Those go to a folder that is made for one run and
removed after it. HOME stays, because it holds contexts, profiles and keys that a read needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_SETTINGS: Final[Mapping[str, str]] = {
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.hooksPath": "/dev/null",
    "core.alternateRefsCommand": "true",
    "credential.helper": "",  # forgets those before it
    "diff.external": "",
    "diff.submodule": "short",
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.x509.program": "gpgsm",
    "log.showSignature": "false",
    "log.diffMerges": "separate",  # not what merges anew
    "status.submoduleSummary": "false",
    "http.saveCookies": "false",
    "diff.autoRefreshIndex": "false",  # git diff would write the index
    "alias.lfs": "",  # where that program is not installed
    "alias.fame": "",
}

_SSH: Final = (
    "f() { for last; do :; done; case $last in"
    """ "git-upload-pack '"*"'"*"'") exit 1 ;;"""
    """ "git-upload-pack '"*"'") exec ssh -o BatchMode=yes -o UpdateHostKeys=no"""
    """ -o StrictHostKeyChecking=yes "$@" ;;"""
    " esac; exit 1; }; f"
)
"""ssh for asking what a repository has: settings may name another program to run over there."""

GIT: Final[Mapping[str, str]] = {
    "GIT_PAGER": "cat",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ASKPASS": "",
    "GIT_PROXY_COMMAND": "",
    "GIT_ALLOW_PROTOCOL": "http:https:ssh:git",  # of a folder, settings say what packs it up
    "GIT_SSH_COMMAND": _SSH,
    "GIT_SSH_VARIANT": "ssh",
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(_SETTINGS.values())},
}

PATH: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Folders in which programs are looked up, in order: judge.TRUSTED, as a login of root has it."""

_PAGERS: Final[Mapping[str, str]] = {
    "TERM": "dumb",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "",
    "LESSSECURE": "1",
    "AWS_PAGER": "",
    "GH_PAGER": "cat",
}
_SETTINGS_FILES: Final[Mapping[str, str]] = {
    "PSQLRC": "/dev/null",
    "WGETRC": "/dev/null",
}
_HISTORIES: Final[Mapping[str, str]] = {
    "HISTFILE": "/dev/null",
    "LESSHISTFILE": "-",
    "MYSQL_HISTFILE": "/dev/null",
    "MARIADB_HISTFILE": "/dev/null",
    "NODE_REPL_HISTORY": "",
    "PSQL_HISTORY": "/dev/null",
    "PYTHON_HISTORY": "/dev/null",
    "REDISCLI_HISTFILE": "/dev/null",
    "VALKEYCLI_HISTFILE": "/dev/null",
    "SQLITE_HISTORY": "/dev/null",
    "RLWRAP_HOME": "/dev/null/rlwrap",
}
_FETCHES: Final[Mapping[str, str]] = {
    # A folder's files may ask for another toolchain, which would be fetched and installed.
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-mod=readonly",
    "GOPROXY": "off",
    "RUSTUP_AUTO_INSTALL": "0",
    "RUSTUP_DIST_SERVER": "http://127.0.0.1:9",  # rustup before 1.28 knows no other way
    "RUSTUP_UPDATE_ROOT": "http://127.0.0.1:9",
    "COREPACK_ENABLE_NETWORK": "0",
    "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
    "AZURE_EXTENSION_USE_DYNAMIC_INSTALL": "no",
    "HOMEBREW_NO_AUTO_UPDATE": "1",
    "HOMEBREW_NO_INSTALL_FROM_API": "1",
    "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "npm_config_update_notifier": "false",
    "DENO_NO_UPDATE_CHECK": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_NO_EXTENSION_UPDATE_NOTIFIER": "1",
    "GLAB_CHECK_UPDATE": "false",
    "CHECKPOINT_DISABLE": "1",
    "VAGRANT_CHECKPOINT_DISABLE": "1",
}
_REPORTS: Final[Mapping[str, str]] = {
    # Figures about the use of a program leave this machine, or wait in a file until they do.
    "AZURE_CORE_COLLECT_TELEMETRY": "no",
    "AZURE_LOGGING_ENABLE_LOG_FILE": "no",
    "CLOUDSDK_CORE_DISABLE_FILE_LOGGING": "1",
    "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
    "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
    "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
    "DOTNET_GENERATE_ASPNET_CERTIFICATE": "false",
    "HOMEBREW_NO_ANALYTICS": "1",
    "POWERSHELL_TELEMETRY_OPTOUT": "1",
    "DO_NOT_TRACK": "1",
}
_WRITES: Final[Mapping[str, str]] = {
    "PIP_NO_CACHE_DIR": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONSAFEPATH": "1",  # -m takes no module from the current folder
    "BLKID_FILE": "/dev/null",
    "KAFKA_OPTS": "-XX:-UsePerfData",
    "npm_config_logs_max": "0",
    "ANSIBLE_RETRY_FILES_ENABLED": "0",
    "ANSIBLE_CACHE_PLUGIN": "memory",
    "ANSIBLE_LOG_PATH": "",
    **dict.fromkeys(  # settings of the current folder may name folders of plugins
        (
            *("ANSIBLE_INVENTORY_PLUGINS", "ANSIBLE_VARS_PLUGINS", "ANSIBLE_CALLBACK_PLUGINS"),
            *("ANSIBLE_FILTER_PLUGINS", "ANSIBLE_TEST_PLUGINS", "ANSIBLE_LOOKUP_PLUGINS"),
            *("ANSIBLE_CACHE_PLUGINS", "ANSIBLE_STRATEGY_PLUGINS", "ANSIBLE_LIBRARY"),
            *("ANSIBLE_DOC_FRAGMENT_PLUGINS", "ANSIBLE_MODULE_UTILS", "ANSIBLE_ROLES_PATH"),
        ),
        "/dev/null",
    ),
    "ANSIBLE_INVENTORY_ENABLED": "yaml,ini,toml",
}

FIXED: Final[Mapping[str, str]] = {
    "PATH": ":".join(PATH),
    **_PAGERS,
    **_SETTINGS_FILES,
    **_HISTORIES,
    **_FETCHES,
    **_REPORTS,
    **_WRITES,
    **GIT,
}
"""These come after settings of a repository or a home folder, which may name programs."""

PRIVATE: Final[Mapping[str, str]] = {
    "TMPDIR": "tmp",
    "XDG_CACHE_HOME": "cache",
    "XDG_STATE_HOME": "state",
    "ANSIBLE_LOCAL_TEMP": "tmp",
    "BORG_CACHE_DIR": "cache/borg",
    "BUNDLE_USER_CACHE": "cache/bundle",
    "DENO_DIR": "cache/deno",
    "GOCACHE": "cache/go",
    "HELM_CACHE_HOME": "cache/helm",
    "HTTPIE_CONFIG_DIR": "httpie",
    "KUBECACHEDIR": "cache/kube",
    "MPLCONFIGDIR": "cache/matplotlib",
    "PYTHONPYCACHEPREFIX": "cache/python",
    "RCLONE_CACHE_DIR": "cache/rclone",
    "LOG_DIR": "logs",  # the scripts of Kafka
    "RESTIC_CACHE_DIR": "cache/restic",
    "SNMP_PERSISTENT_DIR": "state/snmp",
    "TRIVY_CACHE_DIR": "cache/trivy",
    "npm_config_cache": "cache/npm",
}
"""Variables that name a place for caches, logs and temporary files → a path in the folder."""

_WITHOUT_HOME: Final[Mapping[str, tuple[str, str]]] = {
    "AZURE_CONFIG_DIR": (".azure", "config/azure"),
    "CLOUDSDK_CONFIG": (".config/gcloud", "config/gcloud"),
    "DOCKER_CONFIG": (".docker", "config/docker"),
    "GH_CONFIG_DIR": (".config/gh", "config/gh"),
    "GLAB_CONFIG_DIR": (".config/glab-cli", "config/glab-cli"),
    "GNUPGHOME": (".gnupg", "gnupg"),
    "INCUS_CONF": (".config/incus", "config/incus"),
    "LXD_CONF": (".config/lxc", "config/lxc"),
    "MINIKUBE_HOME": (".minikube", "config/minikube"),
    "VAGRANT_HOME": (".vagrant.d", "config/vagrant"),
    "XDG_CONFIG_HOME": (".config", "config"),
    "XDG_DATA_HOME": (".local/share", "data"),
}
"""Variable → the folder in HOME that it stands for by default, and a path in the private folder.

A program makes such a folder at its first call. Where it is absent there is no profile to keep.
"""

NOWHERE: Final = "/dev/null/private"
"""Stands for the private folder in a plan: a caller that makes none gets errors, and no files."""


def private_paths(environ: Mapping[str, str]) -> dict[str, str]:
    """Return each variable that has to name a path in the private folder, with that path.

    Effect: looks whether folders exist in HOME.
    """
    home = Path(environ.get("HOME") or "/")
    absent = {
        name: private
        for name, (folder, private) in _WITHOUT_HOME.items()
        # `Path.exists` raises in a home that this user may not look into.
        if not os.path.exists(home / folder)  # noqa: PTH110
    }
    return {**PRIVATE, **absent}
