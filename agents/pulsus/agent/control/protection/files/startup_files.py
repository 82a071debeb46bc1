"""Files that the next process of Pulsus, or of a program that it starts, runs or reads first.

`.bashrc` and other shell profiles, Python packages and git settings are such files. Cron jobs and
systemd units may be written, unless they name Pulsus (`is_scheduled`). Nothing that the agent does
may write there: what is written runs later, past every gate. Reads pass. Effect: only through
`ProtectedPlaces`, which follows links.
"""

from __future__ import annotations

import os
import re
import site
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pulsus.agent.control.protection.files.place_index import Relation
from pulsus.agent.control.protection.files.program_files import (
    is_around_libraries,
    is_library,
    table_programs,
)
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern

_STARTED: Final = (
    *("pulsus", "python", "python3", "pip", "uv", "ruff", "mypy", "dmypy", "bwrap", "git", "ssh"),
    *("ssh-keygen", "gpg", "sh", "bash", "env", "sudo", "systemctl", "journalctl", "loginctl"),
    *("docker", "podman", "kubectl", "ps", "ss", "ip", "df", "lsblk", "cat", "ls", "grep", "curl"),
    *("pvesh", "timeout", "xargs", "find", "du", "id", "hostname", "uname", "nice", "setsid"),
)
"""Programs that Pulsus or its checks start by their name."""
_VERSIONS: Final = tuple(
    f"{name}{sys.version_info[0]}.{sys.version_info[1]}" for name in ("python", "pip")
)
STARTED_NAMES: Final = frozenset({*_STARTED, *_VERSIONS})
_OPEN_FOLDERS: Final = frozenset({".cache", ".config", ".local"})
"""Hidden folders of a home that hold data of programs too. Every other hidden name is settings."""
_CONFIG: Final = (
    "git fish environment.d autostart pip uv mypy ruff containers curlrc wgetrc duckdb nvim vim"
    " lesskey sqlite3 bat go rpm ImageMagick gh glab-cli helm fd ripgrep hg nano emacs mc gdb tig"
    " nushell xonsh starship.toml tmux screen k9s jj jq cargo conda mamba composer pypoetry ipython"
    " procps lf ranger"
)
_HOME: Final = (
    *(f".config/{name}" for name in _CONFIG.split()),
    *(".local/lib", ".local/share/helm", ".local/share/gh", ".local/share/man"),
)
"""Files below the others that shells, Python, git and clients read when they start."""
_SYSTEM: Final = (
    *("/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh"),
    *("/etc/zshenv", "/etc/environment", "/etc/environment.d", "/etc/ld.so.preload"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.cache", "/etc/gitconfig"),
    *("/etc/ssh/ssh_config", "/etc/ssh/ssh_config.d", "/etc/pip.conf", "/etc/curlrc"),
    *("/etc/wgetrc", "/etc/inputrc", "/proc/sysrq-trigger", "/sys/fs/cgroup", "/sys/power"),
    *("/dev/pts", "/dev/ptmx", "/dev/console", "/dev/input", "/dev/uinput"),
    *("/usr/share/perl5", "/usr/share/perl", "/usr/lib/python3", "/usr/lib/sysstat"),
    *("/usr/share/git-core", "/usr/share/misc/magic.mgc", "/usr/share/file", "/etc/magic"),
    *("/etc/bash_completion.d", "/usr/share/bash-completion", "/etc/fish", "/etc/mailcap"),
    *("/etc/psqlrc", "/etc/postgresql-common/psqlrc", "/etc/my.cnf", "/etc/ssl/openssl.cnf"),
    *("/usr/lib/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies"),
    *("/etc/vim/vimrc", "/etc/vimrc", "/etc/screenrc", "/etc/tmux.conf", "/etc/lesskey"),
    *("/etc/pam.conf", "/etc/pam.d", "/etc/security/pam_env.conf", "/lib/security"),
    *("/etc/nsswitch.conf", "/etc/sudo.conf", "/etc/sudoers", "/etc/sudoers.d", "/etc/doas.conf"),
    *("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug"),
    *("/proc/sys/kernel/poweroff_cmd", "/proc/sys/fs/binfmt_misc", "/etc/binfmt.d"),
    *("/usr/lib/binfmt.d", "/run/binfmt.d", "/sys/kernel/uevent_helper", "/var/lib/binfmts"),
)
"""The same for every user, and files of the kernel through which a write ends or types."""
_SCHEDULED: Final = (
    *("/etc/crontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly"),
    *("/etc/cron.monthly", "/etc/anacrontab", "/var/spool/cron", "/var/spool/at"),
    *("/etc/systemd/system", "/etc/systemd/user", "/run/systemd/system", "/lib/systemd/system"),
    *("/usr/lib/systemd/system", "/usr/lib/systemd/user", "/etc/init.d", "/etc/rc.local"),
    *("/etc/logrotate.conf", "/etc/logrotate.d", "/etc/supervisor", "/etc/supervisord.conf"),
    *("/etc/supervisord.d", "/etc/network", "/etc/NetworkManager/dispatcher.d", "/etc/ppp"),
    *("/usr/lib/NetworkManager/dispatcher.d", "/etc/networkd-dispatcher", "/etc/dhcp"),
    *("/etc/xdg/autostart", "/etc/X11", "/etc/gdm", "/etc/gdm3", "/etc/lightdm", "/etc/sddm.conf"),
    *("/etc/apt/apt.conf", "/etc/apt/apt.conf.d", "/etc/dpkg/dpkg.cfg", "/etc/dpkg/dpkg.cfg.d"),
    *("/etc/dnf", "/etc/yum", "/etc/pacman.d/hooks", "/etc/pacman.conf", "/etc/kernel"),
    *("/etc/initramfs-tools", "/etc/dracut.conf.d", "/etc/grub.d", "/etc/default/grub"),
    *("/etc/polkit-1", "/usr/share/polkit-1", "/etc/dbus-1", "/usr/share/dbus-1"),
    *("/usr/local/share/dbus-1", "/var/spool/anacron", "/var/spool/atjobs", "/etc/rc.d"),
    *("/etc/update-motd.d", "/etc/modprobe.conf", "/etc/modules", "/etc/sysctl.conf", "/etc/acpi"),
    *("/etc/lvm", "/etc/krb5.conf", "/etc/krb5.conf.d", "/etc/gss", "/etc/pkcs11", "/etc/docker"),
    *("/etc/libvirt/hooks", "/etc/zfs/zed.d", "/etc/kubernetes/manifests", "/etc/default"),
    *("/etc/letsencrypt/renewal-hooks", "/etc/smartmontools", "/etc/smartd.conf", "/etc/sysconfig"),
    *("/etc/auto.master", "/etc/auto.master.d", "/etc/needrestart", "/etc/fail2ban", "/etc/conf.d"),
    *("/etc/nagios", "/etc/zabbix", "/etc/snmp", "/etc/telegraf", "/etc/collectd", "/etc/munin"),
    *("/etc/apcupsd", "/etc/nut", "/etc/hotplug", "/etc/usb_modeswitch.d", "/etc/openvpn"),
    *("/etc/inittab", "/etc/runit", "/etc/sv", "/etc/service", "/etc/s6", "/etc/monit"),
    *("/etc/inetd.conf", "/etc/xinetd.d", "/etc/incron.d", "/var/spool/incron", "/etc/aliases"),
    *(
        f"{root}/{name}"
        for root in ("/etc", "/run", "/lib", "/usr/lib", "/usr/local/lib")
        for name in (
            *("udev", "modprobe.d", "modules-load.d", "sysctl.d", "tmpfiles.d", "sysusers.d"),
            *("systemd/system", "systemd/user", "systemd/system-generators"),
            *("systemd/user-generators", "systemd/system-environment-generators"),
            *("systemd/user-environment-generators", "systemd/system-preset"),
            *("systemd/system-shutdown", "systemd/system-sleep", "systemd/network"),
        )
    ),
)
_SCHEDULED_HOME: Final = (
    *(".config/systemd", ".local/share/systemd", ".local/share/dbus-1", ".xinitrc", ".xsession"),
    *(".forward", ".procmailrc", ".ssh/rc", ".local/share/autostart"),
)
"""Folders of files that say which programs run later."""
_PROJECT_FILES: Final = re.compile(
    r".*\.(?:py|pth)|\.env.*|\.?python-versions?|Makefile|pyvenv\.cfg|Pipfile(?:\.lock)?"
    r"|(?:pyproject|pulsus|uv|poetry|pdm|pixi)\.toml|(?:uv|poetry|pdm|pixi)\.lock"
    r"|\.?(?:ruff|mypy|pytest|coverage)\.(?:toml|ini)|(?:setup|tox)\.(?:cfg|ini)|\.?coveragerc"
)
"""Files of a project's root that Python, the checks or `pulsus` itself read there."""
_WILD: Final = re.compile(r"[*?\[]")
_TERMINALS: Final = re.compile(r"tty(?!usb|acm).*|vcs.*|hvc.*|hidraw.*")
_HOOK_FILES: Final = re.compile(r"(?:site|user)customize\.py")
_MODULE_FILES: Final = re.compile(r".*\.(?:py[cdw]?|pth|so|egg-link|egg)")
"""Files that Python takes from a folder of PYTHONPATH."""
_PACKAGE_NAME: Final = re.compile(r"[a-z_]\w*")
MAKES_FOLDERS: Final = frozenset(
    {
        *("cp", "mv", "ln", "install", "mkdir", "rsync", "scp", "tar", "bsdtar", "unzip", "7z"),
        *("git", "rm", "rmdir", "mount", "rename", "gcp", "gmv", "gln", "cpio", "mkfifo"),
    }
)
"""Programs whose words alone may be folders that they make, move or take away."""


class StartupFiles:
    """The places in which only writes are refused.

    `start` are paths of files and folders that the next process runs or reads, `later` those of
    files that say what runs later. `home` is that of the user.
    """

    def __init__(
        self,
        start: ProtectedPlaces,
        later: ProtectedPlaces,
        *,
        programs: Sequence[Path] = (),
        pids: Sequence[int] = (),
        imported: Sequence[Path] = (),
        home: Path | None,
    ) -> None:
        self._start, self._later = start, later
        self._pids = frozenset(map(str, pids)) | {"self", "thread-self"}
        folders = {_parts_of(str(each)) for one in programs for each in (one, one.resolve())}
        self._programs = frozenset(folders)
        spelled = (str(each) for one in imported for each in (one, one.resolve()))
        self._imported = {_parts_of(each): Path(each) for each in spelled}
        homes = (home, home.resolve()) if home is not None else ()
        self._homes = frozenset(_parts_of(str(each)) for each in homes)
        self._around = frozenset(one[:length] for one in folders for length in range(len(one) + 1))

    def find(
        self,
        path: str,
        folders: Sequence[str] = (),
        *,
        wild: bool = False,
        filled: bool = False,
        makes: bool = False,
        runs: bool = False,
    ) -> Relation | None:
        """Return how a written path lies to what the next process runs or reads.

        `makes` says that the program may make a folder of that name, `runs` that it may only run
        what its words name.
        """
        above = False
        wild = wild and any(map(_WILD.search, (path, *folders)))
        spelled = self._start.spellings(path, folders, wild=wild, filled=filled)
        for parts in spelled:
            if self._is_live(parts) or self._is_program(parts, runs=runs):
                return "inside"
            if is_library(parts) or self._is_settings(parts):
                return "inside"
            if self._is_imported(parts, path, makes=makes):
                return "inside"
            above = above or parts in self._around or is_around_libraries(parts)
        found = self._start.relate(spelled, wild=wild, filled=filled)
        return found or ("above" if above else None)

    def is_scheduled(self, path: str, folders: Sequence[str] = ()) -> bool:
        """Return True for a file that says which programs run later."""
        return self._later.find(path, folders, wild=True) == "inside"

    def _is_settings(self, parts: Sequence[str]) -> bool:
        """Return True for a hidden name in the home folder: clients take settings from there."""
        for home in self._homes:
            below = parts[len(home) :] if tuple(parts[: len(home)]) == home else ()
            if below and below[0][0] == "." and below[0] not in _OPEN_FOLDERS:
                return True
        return False

    def _is_program(self, parts: Sequence[str], *, runs: bool) -> bool:
        """Return True for a program that Pulsus or a proven read starts, in a folder of `PATH`."""
        if not parts or tuple(parts[:-1]) not in self._programs:
            return False
        name, known = parts[-1], STARTED_NAMES if runs else STARTED_NAMES | table_programs()
        if _WILD.search(name):
            return any(patterns_overlap(simplify_pattern(name), each) for each in known)
        return name in known

    def _is_imported(self, parts: Sequence[str], path: str, *, makes: bool) -> bool:
        """Return True for a module or package in a folder of PYTHONPATH, or for that folder.

        A word alone, such as `stop`, is a package only if a folder of that name is there, or the
        program makes one.
        """
        for root, folder in self._imported.items():
            below = parts[len(root) :] if tuple(parts[: len(root)]) == root else None
            named = makes or "/" in path
            if below is None or " " in path:
                continue
            if not below:
                return named
            if _MODULE_FILES.fullmatch(below[-1]) or _WILD.search(below[-1]):
                return True
            if len(below) == 1 and _PACKAGE_NAME.fullmatch(below[0]):
                return named or Path(folder, path).is_dir()
        return False

    def _is_live(self, parts: Sequence[str]) -> bool:
        """Return True for a terminal, a process of Pulsus, or a file that Python runs by name."""
        if not parts:
            return False
        if parts[0] == "proc" and len(parts) > 2 and parts[1] in self._pids:
            return parts[2] not in {"fd", "cwd", "root"}  # these were followed
        if parts[0] == "dev" and len(parts) > 1 and _TERMINALS.fullmatch(parts[1]):
            return True
        if _HOOK_FILES.fullmatch(parts[-1]):
            return True
        root = _parts_of(self._start.project)
        in_root = len(parts) == len(root) + 1 and tuple(parts[:-1]) == root
        return in_root and _PROJECT_FILES.fullmatch(parts[-1]) is not None


def _parts_of(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.casefold().split("/") if part)


def startup_paths(home: Path | None, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the places that the next process of Pulsus and its programs run or read."""
    found = [Path(each) for each in _SYSTEM]
    found += _python_paths()
    if home is not None:
        found += [home / each for each in _HOME]
    config = environ.get("XDG_CONFIG_HOME")
    if config:
        found += [Path(config, each.removeprefix(".config/")) for each in _HOME if "/" in each]
    named = [environ[name] for name in _NAMED_FILES if environ.get(name)]
    found += [Path(each).expanduser() for one in named for each in one.split(os.pathsep) if each]
    return tuple(dict.fromkeys(found))


def program_folders(home: Path | None, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders in which Pulsus finds its programs, and those that a login adds."""
    named = [folder for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    found = [Path(folder) for folder in (*named, "/usr/local/bin", "/usr/local/sbin", "/usr/bin")]
    found += [home / ".local/bin", home / "bin"] if home is not None else []
    return tuple(dict.fromkeys(found))


def import_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of PYTHONPATH. An empty entry is the folder of the process."""
    named = environ.get("PYTHONPATH", "")
    return tuple(Path(folder).absolute() for folder in named.split(os.pathsep)) if named else ()


_NAMED_FILES: Final = (
    *("PYTHONSTARTUP", "BASH_ENV", "ENV", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"),
    *("CURL_HOME", "WGETRC", "PIP_CONFIG_FILE", "UV_CONFIG_FILE", "MYPY_CONFIG_FILE"),
)
"""Variables that name such files."""


def _python_paths() -> list[Path]:
    """Return the folders from which this Python takes code, and its virtual environment."""
    found = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
    found += [Path(sys.executable)]
    if site.USER_SITE:
        found.append(Path(site.USER_SITE))
    if sys.prefix != sys.base_prefix:
        found.append(Path(sys.prefix))
    return found


def scheduled_paths(home: Path | None) -> tuple[Path, ...]:
    """Return the folders of timers, services and jobs."""
    own = [home / each for each in _SCHEDULED_HOME] if home is not None else []
    return (*map(Path, _SCHEDULED), *own)
