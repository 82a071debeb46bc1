"""The state that a kill in the write of a plan leaves behind."""

import sqlite3


def leave_write_started(folder, step):
    """Leave the latest run of a project as a kill in the write `step` does."""
    with sqlite3.connect(folder / ".pulsus/state.db") as state:
        state.execute(
            "UPDATE runs SET state = 'running', ended_at = NULL WHERE number IN "
            "(SELECT max(number) FROM runs)"
        )
        state.execute(
            "UPDATE steps SET state = 'started', result_file = NULL, sha256 = NULL, "
            "kept_result = NULL, verification = NULL, ended_at = NULL "
            "WHERE step = ? AND run IN (SELECT max(number) FROM runs)",
            (step,),
        )
    state.close()
