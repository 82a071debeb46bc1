"""Requests for a change against tools that only read (spec §6)."""

import pytest

from pulsus.core.rankers.effect_mismatch import commands, effect_mismatch, groups_of
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.text.verbs import command_groups
from tests.ranking import CATALOGUE, tool


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("delete the largest files", ("delete",)),
        ("please restart nginx", ("restart",)),
        ("I need to kill the process", ("kill",)),
        ("could you just reboot web01?", ("reboot",)),
        ("find old logs and remove them", ("remove",)),
        ("find old logs, then compress them", ("compress",)),
        ("stop nginx; start apache", ("stop", "start")),
        ("add a user called bob", ("add",)),
        ("put the folder reports into an archive", ("put into archive",)),
        ("put /srv/logs in a zip", ("put into zip",)),
        ("turn the folder into a tarball", ("turn into tarball",)),
        ("can you stuff the old logs into a new archive?", ("stuff into archive",)),
        ("make ops the owner of app.yaml", ("make",)),
        ("run /opt/x.sh every night at 2", ("schedule",)),
        ("start /opt/x.sh daily at 02:00", ("schedule",)),
        ("execute ./clean.sh every 15 minutes", ("schedule",)),
        ("call /opt/x.sh each sunday", ("schedule",)),
        ("only the owner may read key.pem", ("restrict",)),
        ("let only root read key.pem", ("restrict",)),
        ("nobody else should read notes.txt", ("restrict",)),
    ],
)
def test_a_command_for_a_change_is_seen(request_text, expected):
    assert commands(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "list deleted files",
        "put the result in a table",
        "show what is in the archive",
        "collect the errors in the archive",
        "packages to update",
        "when was the last reboot",
        "which services need a restart",
        "create a report of disk usage",
        "format as a markdown table",
        "write a summary of the log",
        "is the firewall block list long",
        "run the nightly report",
        "which jobs run every night",
        "only root can read /etc/shadow",
        "only the last ten lines",
        "",
    ],
)
def test_a_description_commands_nothing(request_text):
    assert commands(request_text) == ()


CATALOGUE_WORDS = {"count", "smart", "clock", "remote", "uptime"}


def known(word):
    return word in CATALOGUE_WORDS


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("decompress the dump", ("decompress",)),
        ("extract photos.zip to /srv", ("extract",)),
        ("empty the mail spool", ("empty",)),
        ("flush the DNS cache", ("flush",)),
        ("expose the service to the internet", ("expose",)),
        ("open port 9090 for the monitoring host", ("open",)),
        ("open a ticket about the printer", ("open",)),
        ("run a backup of the mailboxes", ("run",)),
        ("switch off the radio", ("switch off",)),
        ("bring the tunnel up", ("bring up",)),
        ("roll back the last release", ("roll back",)),
    ],
)
def test_a_command_of_two_words_or_by_its_object_is_seen(request_text, expected):
    assert commands(request_text) == expected


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("resatrt the mail server", ("restart",)),
        ("isntall curl", ("install",)),
        ("please delte the old dumps", ("delete",)),
        ("uninstal the agent", ("uninstall",)),
        ("find the old dumps and remvoe them", ("remove",)),
    ],
)
def test_a_misspelt_command_is_one_too(request_text, expected):
    assert commands(request_text, known) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "count files",
        "smart values of the disk",
        "attack attempts of last night",
        "deleted files in use",
        "installed packages",
    ],
)
def test_a_word_of_its_own_is_no_misspelt_command(request_text):
    assert commands(request_text, known) == ()


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("I want the mail server restarted", ("restart",)),
        ("we need curl upgraded to 8.5", ("upgrade",)),
        ("please have the account removed", ("remove",)),
        ("can you get the queue flushed please", ("flush",)),
        ("the old dumps need to be purged", ("purge",)),
        ("old dumps should be deleted", ("delete",)),
        ("the proxy needs restarting", ("restart",)),
        ("it would be great if you could reboot the proxy", ("reboot",)),
        ("the proxy hangs, please restart it", ("restart",)),
    ],
)
def test_a_wish_for_a_change_is_a_command(request_text, expected):
    assert commands(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "which services need to be restarted",
        "does the proxy need to be restarted",
        "list files that should be deleted",
        "I want to know when the proxy was restarted",
        "I need a list of packages installed on the proxy",
        "when was the proxy restarted",
        "which services start and stop at boot",
        "open files of the proxy",
        "open ports and their programs",
        "extract the lines of noon",
        "run a quick check of /srv/backup",
        "mount options of /home",
        "backup age",
        "restart count per container",
        "patch level of the kernel",
        "kill does nothing, what is stuck",
        "mount says the target is busy",
        "send me a list of ports",
        "drop the rest",
        "turn the list into a table on stdout",
    ],
)
def test_reading_about_a_change_commands_nothing(request_text):
    assert commands(request_text, known) == ()


def odds(request_text, subject):
    return effect_mismatch(commands(request_text), groups_of(request_text), subject)


READ = tool("storage/usage/biggest_files", "List the largest files.", kind="read")
DELETE = tool("storage/clean/delete_files", "Delete old files.", kind="write")
RESTART = tool("services/control/restart_service", "Restart a service.", kind="write")
PLOT = tool("analysis/visualise/plot_matrix", "Plot a matrix.", kind="write")
DEDUPE = tool("shared/rows/unique_rows", "Remove duplicate rows.", kind="read")
BACKUPS = tool("backup/age/backup_freshness", "Tell how old the newest backup is.", kind="read")
SAVE = tool("shared/save/save_report", "Write a report to a file.", kind="write")
OPENER = tool("network/firewall/open_port", "Open a port.", kind="write")
UNDECLARED = tool("storage/clean/delete_all", "Delete all.")


@pytest.mark.parametrize(
    ("request_text", "subject"),
    [
        pytest.param("delete the largest files", READ, id="change asked of a reader"),
        pytest.param("show old files", DELETE, id="question put to a deleter"),
        pytest.param("restart nginx", DELETE, id="another change"),
        pytest.param("backup the mailboxes", BACKUPS, id="its noun is the verb asked for"),
        pytest.param("run a backup", BACKUPS, id="its noun is the object asked for"),
    ],
)
def test_request_and_tool_at_odds_say_why(request_text, subject):
    assert odds(request_text, subject)


@pytest.mark.parametrize(
    ("request_text", "subject"),
    [
        pytest.param("show the largest files", READ, id="question, reader"),
        pytest.param("remove old files", DELETE, id="the same change in another word"),
        pytest.param("restart nginx", RESTART, id="the change itself"),
        pytest.param("show a matrix", PLOT, id="writes, but names no change"),
        pytest.param("remove duplicate rows", DEDUPE, id="changes only the rows it is given"),
        pytest.param("put it in a.txt", SAVE, id="the change by a word that commands none"),
        pytest.param("open port 80", OPENER, id="by its object"),
        pytest.param("show everything", UNDECLARED, id="kind undeclared"),
    ],
)
def test_request_and_tool_in_accord_raise_no_caution(request_text, subject):
    assert odds(request_text, subject) is None


@pytest.mark.parametrize(
    "request_text",
    [
        "list the largest files and delete them",
        "delte the largest files",
        "I want the largest files deleted",
        "the largest files below a folder should be removed",
        "could you please erase the largest files below a folder",
    ],
)
def test_a_request_for_a_change_is_never_answered_by_a_tool_that_only_reads(request_text):
    for found in Ranker.build(CATALOGUE).rank(request_text):
        assert found.tool.kind == "write" or found.p < 0.6


MODES = tool(
    "storage/access/set_mode",
    "Set the mode of a file.",
    kind="write",
    intents=("chmod", "tar -xf a.tar"),
)


@pytest.mark.parametrize(
    "request_text", ["chmod 600 a.key", "mount it with mode 0700", "tar -xf b.tar"]
)
def test_a_manifest_may_name_more_of_the_change_that_a_tool_makes(request_text):
    assert odds(request_text, MODES) is None


@pytest.mark.parametrize("request_text", ["restart nginx", "delete the files of a.key"])
def test_a_manifest_names_no_change_that_its_phrases_do_not_command(request_text):
    assert odds(request_text, MODES)


def test_intents_of_a_tool_that_reads_make_no_change_of_it():
    reader = tool("a/b/modes", "List modes.", kind="read", intents=("chmod a file",))
    assert odds("chmod 600 a.key", reader)


@pytest.mark.parametrize(
    "request_text",
    ["what is the mode set to", "which files are set to 0777", "ready? is the mode set or not"],
)
def test_a_question_that_names_a_change_does_not_ask_for_it(request_text):
    assert odds(request_text, MODES)


def test_things_that_are_counted_name_no_change():
    assert groups_of("restarts and errors in web-json.log") == frozenset()
    assert groups_of("restart it, there are errors") == {"start"}


@pytest.mark.parametrize(
    ("request_text", "group"),
    [
        ("useradd -m ada", "create"),
        ("userdel ada", "remove"),
        ("usermod -L ada", "enable"),
        ("throw the old packages away", "remove"),
        ("switch /srv back to writable", "edit"),
    ],
)
def test_commands_of_an_admin_ask_for_their_change(request_text, group):
    assert command_groups(commands(request_text)) == {group}


@pytest.mark.parametrize(
    "request_text",
    [
        "show the files to delete",
        "please list the backup to restore",
        "print the setting to change",
        "how many users are to be removed",
        "which value would set_config_line write",
    ],
)
def test_who_asks_to_see_something_asks_for_no_change(request_text):
    assert groups_of(request_text) == frozenset()


def test_a_file_name_does_not_make_a_change_a_request_for_an_answer():
    assert commands("set workers to 16 in app.yaml") == ("set",)
    assert commands("change the port in app.json, then check it") == ("change",)
    assert commands("change the output to yaml") == ()


@pytest.mark.parametrize(
    "request_text",
    [
        "make the timeout 30 in app.ini",
        "please make debug off in /etc/app/settings.yaml",
        "could you make the log level 3 in the file app.toml?",
        "make Port to be 2222 in sshd.conf",
        "in /opt/app/config.yaml the port under server must become 8443",
        "DEBUG in .env has to become false",
        "the timeout in app.ini needs to be set to 30",
    ],
)
def test_a_setting_that_is_made_a_value_asks_to_set_it(request_text):
    assert commands(request_text) == ("set",)


@pytest.mark.parametrize(
    "request_text",
    [
        "make a table of the top 10 in data.yaml",
        "make a list of the first 5 in a.ini",
        "make me a chart of the keys in app.ini",
        "how many timeouts of 30 are in app.ini",
        "why must the timeout in app.ini become 30",
        "what does the port in app.ini need to become",
    ],
)
def test_an_answer_that_is_made_of_a_file_sets_nothing_in_it(request_text):
    assert commands(request_text) == ()
