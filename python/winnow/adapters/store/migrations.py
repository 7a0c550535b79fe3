"""How the tables came to be what they are."""

# One entry for each version: what makes it from the one before. A released one never changes.
MIGRATIONS = (
    (
        """
        CREATE TABLE IF NOT EXISTS sections (
            id TEXT PRIMARY KEY, chat TEXT NOT NULL, tool TEXT NOT NULL, input TEXT NOT NULL,
            state TEXT NOT NULL, lines TEXT NOT NULL, created REAL NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE IF NOT EXISTS decisions (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL, decision TEXT NOT NULL
        )
        """,
    ),
    # A section is found by its chat and the marker on its lines, which another chat may have, too.
    (
        "ALTER TABLE sections RENAME TO before",
        """
        CREATE TABLE sections (
            id TEXT PRIMARY KEY, chat TEXT NOT NULL, marker TEXT NOT NULL, tool TEXT NOT NULL,
            input TEXT NOT NULL, state TEXT NOT NULL, lines TEXT NOT NULL, created REAL NOT NULL
        )
        """,
        """
        INSERT OR IGNORE INTO sections
        SELECT lower(hex(randomblob(16))), chat, id, tool, input, state, lines, created
        FROM before WHERE state != 'reserved' ORDER BY created
        """,
        "DROP TABLE before",
        "CREATE INDEX sections_of_chat ON sections (chat)",
        "CREATE TABLE messages (id TEXT PRIMARY KEY, chat TEXT NOT NULL, message TEXT NOT NULL)",
    ),
    (
        """
        CREATE TABLE verdicts (
            root TEXT NOT NULL, entry TEXT NOT NULL, verdict TEXT NOT NULL,
            PRIMARY KEY (root, entry)
        )
        """,
        "CREATE TABLE modes (chat TEXT PRIMARY KEY, mode TEXT NOT NULL)",
    ),
    ("ALTER TABLE sections ADD COLUMN call TEXT NOT NULL DEFAULT ''",),
    (
        "CREATE TABLE run_events (id INTEGER PRIMARY KEY, run TEXT NOT NULL, event TEXT NOT NULL)",
        # The whole event, too: one that was also kept beside the file is the same.
        "CREATE UNIQUE INDEX events_of_run ON run_events (run, event)",
        """
        CREATE TRIGGER run_events_stay BEFORE UPDATE ON run_events
        BEGIN SELECT RAISE(ABORT, 'events are never changed'); END
        """,
        """
        CREATE TABLE run_turns (
            run TEXT NOT NULL, task TEXT NOT NULL, number INTEGER NOT NULL, turn TEXT NOT NULL,
            PRIMARY KEY (run, task, number)
        ) WITHOUT ROWID
        """,
    ),
    ("CREATE TABLE clarified (id TEXT PRIMARY KEY, known TEXT NOT NULL)",),
)
