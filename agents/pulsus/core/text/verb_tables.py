"""Words the reading of commands goes by (verbs.py): tables, no rules.

Verbs of change are in groups that mean about the same. Each table is a string of words, split once.
"""

from __future__ import annotations

from collections.abc import Mapping


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(words: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in words.replace("\n", " ").split(","))


# They count only as a command ("delete the old logs"), never as a description ("deleted files").
CHANGE: Mapping[str, frozenset[str]] = {
    "remove": _set("""
        delete remove erase wipe purge prune drop unlink rm clear clean trash discard
        truncate reclaim close flush
    """),
    "stop": _set("""
        stop kill terminate halt shutdown quit abort suspend pause drain cordon uncordon
        evict failover
    """),
    "start": _set("start restart reload reboot relaunch launch bounce resume respawn"),
    "install": _set("""
        install reinstall uninstall upgrade downgrade patch deploy redeploy provision
        rollback
    """),
    "enable": _set("""
        enable disable activate deactivate block unblock ban unban allow deny lock
        unlock mask unmask mute silence revoke grant expose
    """),
    "move": _set("move rename relocate migrate mv"),
    "repair": _set("fix repair heal tune optimise optimize recover restore rebuild defragment"),
    "edit": _set("""
        edit modify change replace overwrite append configure reconfigure reset chmod
        chown resize extend shrink mount remount unmount umount attach detach scale
        increase decrease raise lower renice throttle format rotate encrypt decrypt
        renew
    """),
    "send": _set("send email mail notify post publish upload push page"),
    "create": _set("""
        create add write save update set schedule backup copy archive compress zip unzip
        untar unpack decompress generate capture sign issue reissue
    """),
}

# Words that name a change and never command one: what a tool that makes it may be asked with.
NAMING: Mapping[str, frozenset[str]] = {
    "create": _set("""
        put dump store stored export record persist tee redirect written wrote kept
    """),
}

# A verb's particles, and the group it then belongs to: "turn off IPv6", "bring the tunnel up".
PARTICLES: Mapping[str, Mapping[str, str]] = {
    "bring": {"up": "start", "down": "stop"},
    "spin": {"up": "start", "down": "stop"},
    "fire": {"up": "start"},
    "power": {"on": "start", "off": "stop"},
    "boot": {"up": "start"},
    "kick": {"off": "start", "out": "stop"},
    "shut": {"down": "stop"},
    "take": {"down": "stop"},
    "tear": {"down": "stop"},
    "log": {"out": "stop"},
    "turn": {"on": "enable", "off": "enable"},
    "switch": {"on": "enable", "off": "enable"},
    "cut": {"off": "enable"},
    "roll": {"back": "install", "out": "install"},
    "set": {"up": "create"},
    "back": {"up": "create"},
    "clean": {"up": "remove"},
    "free": {"up": "remove"},
    "get": {"rid": "remove"},
}

# A verb that asks for a change only with such an object, and the group it then belongs to: "open a
# ticket", but "open ports". A word in the plural is another word here.
OBJECTS: Mapping[str, tuple[str, frozenset[str]]] = {
    "open": ("enable", _set("firewall ticket issue incident tunnel merge pull pr")),
    "apply": (
        "install",
        _set("""
            update updates upgrade upgrades patch patches fix fixes migration migrations
            manifest manifests playbook change changes
        """),
    ),
    "put": ("enable", _set("offline maintenance password")),
    "give": ("enable", _set("access rights permission permissions sudo")),
    "run": (
        "create",
        _set("""
            backup restore migration migrations playbook script job upgrade update
            updates deployment cleanup vacuum
        """),
    ),
    "take": ("create", _set("backup snapshot offline")),
    "extract": ("create", _set("archive tar tarball tgz zip gz xz 7z rar")),
    "make": (
        "edit",
        _set("""
            backup snapshot copy directory folder symlink owned executable writable
            writeable readable faster bigger smaller private public permanent
            persistent
        """),
    ),
    "empty": ("remove", _set("the this that my our all out trash cache swap queue bin")),
}
# The same with a number: "open port 8443".
NUMBERED: Mapping[str, frozenset[str]] = {"open": _set("port")}

# Verbs that are nouns as well. Those of `NOUN_ALONE` command nothing alone, those of `NOUNS`
# nothing before a word of `AFTER_NOUN`; the pairs are names of things.
NOUN_ALONE = _set("""
archive backup mount patch update post page mail email block copy lock issue schedule format
change set sign mask
""")
NOUNS = _set("""
archive backup mount patch update post page mail email block copy lock issue schedule restart
reboot upgrade start stop mask
""")
AFTER_NOUN = _set("""
age ages attempts content contents count counter counters counts date dates details errors
events failures faults frequency history info information list loop loops number numbers options
order overview point points policy progress rate rates reason reasons report requests size sizes
statistics stats status strategy table tables time times of for in per by is are was were has
had since within during
""")
NOUN_PAIRS = _phrases("""
set uid, set gid, drop rate, drop count, drop counter, drop counters, change history,
block device, block devices, block size, lock file, patch level, patch state, mail queue,
format version, page cache, clean shutdown, make sure, reset counter, reset counters, save point
""")

# What stands beside a participle of a change somebody wants: "I want X restarted", "X must be ...".
WANTS = _set("want wants need needs like have get")
MODALS = _set("should must")
OBLIGES = _set("need needs has have ought")
AFTER_WISH = _set("""
now please pls plz asap immediately again today tonight too first soon on to from with
""")
WISHES = WANTS | OBLIGES | {"be"}

# Words that make a clause a question or a reading, whatever participles follow.
READING = _set("""
what whats which who whose whom when where why how if whether that is are was were do does did
has any show list find check count tell see look display print report know verify compare lists
""")
# With one of these first, "and VERB" goes on asking ("which services start and stop at boot"),
# unless one of `THINGS` follows.
QUESTIONS = _set("what whats which who whose when where why how is are was were do does did has")
THINGS = _set("it them that this these those the all everything")

# What a program is said to do: "kill does nothing", "mount says it is busy". Behind one of
# `RELATIVE` it is said of something else.
SYMPTOM = _set("""
does doesn did didn says said fails failed hangs complains complained returns returned takes
took won refuses refused gives gave throws reports keeps
""")
RELATIVE = _set("that which who whatever whichever if when where because as until what and")

# The object that makes such a verb a request for an answer: "create a report", "format as a table".
# Those of `FOR_ME` do only where they go on so: "send me a list".
ANSWERS = _set("create generate add write save format update set change make") | {"bring up"}
FOR_ME = _set("send post publish email mail")
ANSWER_WORDS = _set("""
report summary table chart plot graph overview list picture figure png csv json yaml markdown
html text diagram heatmap histogram image rows result output
""")

# The same of a result at hand ("drop the rest"), never with a thing that is kept somewhere.
ROW_VERBS = _set("drop remove discard clear delete")
ROW_WORDS = _set("row rows result results output columns rest others")
KEPT = _set("table database db file files disk server host cluster")

# Words before the verb of a command.
POLITE = _set("""
please kindly can could would will you i we want need like have to help me us let s lets just
now then and also go ahead d ll must should finally first next afterwards quickly automatically
try hey hi hello ok okay pls plz afterward or gotta wanna so someone somebody pleas immediately
simply instead
""")
