"""Words the reading of command lines goes by (command_line.py): tables, no rules."""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.core.text.verb_tables import CHANGE


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


VERBS = frozenset[str]().union(*CHANGE.values())
"""Programs that are a verb of change themselves: `kill`, `mount`, `chmod`."""

PROGRAMS = _set("""
ansible apk apt apt-get aptitude arp aws az brew bridge cargo certbot chkconfig consul crictl
ctr dnf docker docker-compose dpkg etcdctl firewall-cmd flatpak gcloud gem gh git go helm
hostnamectl ip ipset k3s kubeadm kubectl lxc mdadm minikube multipass netplan networkctl nft
nmcli nomad npm pacman pip pip3 pipx pm2 podman podman-compose poetry pvesh qm rabbitmqctl
rc-service resolvectl restic route rpm service snap supervisorctl svn systemctl tailscale
terraform timedatectl tofu ufw uv vagrant vault velero virsh wg wg-quick yarn yum zfs zpool
zypper
""")
"""Programs of which a word behind says what is done."""

CHANGES = VERBS | _set("""
annotate apply autoremove autoscale bootstrap checkout cherry-pick clone commit condrestart
connect cp daemon-reexec daemon-reload define del destroy disconnect dist-upgrade edit exec
fetch full-upgrade init isolate join kickstart leave mb merge mv offline online poweroff promote
pull put rb rebase receive recv reenable refresh reload-or-restart reset-failed revert rmi run
seal set-default set-hostname set-ntp set-timezone taint try-restart undefine undo unpause
unseal untaint
""")
BROUGHT = _set("up down")
BRINGS = _set("""
c compose con connection docker-compose podman-compose tailscale vagrant wg-quick
""")
"""`up` and `down` change something right behind one of these; elsewhere they tell how it is."""

LOOKS = _set("""
blame cat config current describe df diff events explain get graph help history images info inspect
is-active is-enabled is-failed list list-dependencies list-jobs list-sockets list-timers
list-unit-files list-units log logs ls outdated output outputs plan port ps query search show stat
stats status template top validate version view whoami
""")
"""The first of either among a program's words says whether it changes anything."""

NEVER = _set("--help --version --dry-run --simulate --just-print --what-if")
"""Flags with which no command changes anything."""

LOOKING: Mapping[str, frozenset[str]] = {
    "unzip": _set("-l -t -v -Z"),
    "gunzip": _set("-l -t"),
    "mount": _set("-l"),
    "apt": _set("-s"),
    "apt-get": _set("-s"),
    "kill": _set("-l -L"),
    "patch": _set("-C"),
    "pacman": _set("-Q"),
    "rpm": _set("-q"),
}
"""Flags with which a program that makes changes only looks."""

WRITING: Mapping[str, frozenset[str]] = {
    "sysctl": _set("-w -p --write --load --system"),
    "crontab": _set("-e -r -i"),
    "sed": _set("-i --in-place"),
    "perl": _set("-i"),
    "find": _set("-delete -exec -execdir -ok"),
    "tar": _set("-c -x -r -u --create --extract --append --update --delete"),
    "date": _set("-s --set"),
    "iptables": _set("-A -D -F -I -N -P -R -X -Z --append --delete --flush --insert"),
    "ip6tables": _set("-A -D -F -I -N -P -R -X -Z --append --delete --flush --insert"),
    "journalctl": _set("--rotate --flush --vacuum-size --vacuum-time --vacuum-files"),
    "arp": _set("-d -s"),
    "rpm": _set("-i -U -F -e --install --erase"),
    "dpkg": _set("-i -r -P --install --remove --purge"),
    "pacman": _set("-S -R -U"),
    "ss": _set("-K --kill"),
    "fuser": _set("-k --kill"),
    "hwclock": _set("-w -s --systohc --hctosys"),
    "smartctl": _set("-s -t"),
}
"""Flags with which a program that looks makes a change."""

KNOWN = PROGRAMS.union(WRITING)
