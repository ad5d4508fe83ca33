"""Invented pairs of tasks, and whether what was learnt with one applies to the other.

``TUNED`` was looked at while thresholds were chosen, ``UNTOUCHED`` was not.
"""

from __future__ import annotations

LONG = (
    "The committee met on a rainy evening in the town hall, and after some small talk about the roof the chair opened "
    "the discussion of the new bus line, which several people living near the river had asked for last winter."
)
OTHER_LONG = (
    "Our engine ran hot twice in May. We drained the coolant, replaced a cracked hose, and drove it up the hill behind "
    "the quarry without trouble. The gauge stayed in the middle even when the trailer was full of gravel."
)

Pair = tuple[str, str]

SIMILAR_TUNED: list[Pair] = [
    ("Fix the bug in src/app/models.py", "Fix the bug in src/app/views.py"),
    ("Refund order 17", "Refund order 23904"),
    ("Deploy release v2.3.1 to staging", "Deploy release v2.4.0-rc1 to staging"),
    (f"Summarise this text: {LONG}", f"Summarise this text: {OTHER_LONG}"),
    (
        "Download https://example.org/a/report.pdf and extract its tables",
        "Download http://files.example.net/q3.pdf and extract its tables",
    ),
    ("Reset the password of ann@example.org", "Reset the password of bob.miller@example.com"),
    ('Translate "good morning" into French', 'Translate "where is the station, please?" into French'),
    ("Restart the service billing-7f9c4d", "Restart the service billing-02ab77"),
    ("Close ticket INC-20413", "Close the ticket INC-99120"),
    ("Run the tests in tests/unit/test_store.py", "Run the tests in ./tests/api/test_routes.py"),
    ("Book a table for 4 on 2026-05-01", "Book a table for 2 on 2026-11-30"),
    ("Convert C:\\\\data\\\\in.csv to JSON", "Convert D:\\\\exports\\\\march.csv to JSON"),
    ("Delete the user 550e8400-e29b-41d4-a716-446655440000", "Delete the user 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
    ("Rename `getUser` to `fetchUser` everywhere", "Rename `save_all` to `flush` everywhere"),
    ("Send the invoice for March to the client", "Please send the client the invoice for June"),
]
SIMILAR_UNTOUCHED: list[Pair] = [
    ("Add type hints to lib/parser/tokens.py", "Add type hints to lib/net/socket_pool.py"),
    ("Cancel booking QX81LM", "Cancel the booking ZK22PA"),
    ("Ping the server at 10.0.4.17", "Ping the server at 192.168.1.250"),
    (f"Proofread the following letter:\n\n{OTHER_LONG}", f"Proofread the following letter:\n\n{LONG}"),
    ("Migrate the database shop_prod_eu to version 41", "Migrate the database shop_prod_us to version 42"),
    ("Water the plants in room 12", "Water the plants in room 30"),
    ("Read /etc/nginx/nginx.conf and tell me the open ports", "Read /etc/ssh/sshd_config and tell me the open ports"),
    ("Ship parcel 1Z999AA10123456784", "Ship the parcel 1Z12345E0205271688"),
    ("Explain the error `KeyError: 'id'`", "Explain the error `TypeError: unhashable type: 'list'`"),
    ("Compress photos/2024/summer.zip", "Compress backup/old/winter-trip.tar"),
    ("Transfer 250 EUR to DE89370400440532013000", "Transfer 75.50 EUR to FR7630006000011234567890189"),
    ("Check out branch feature/login-page and build it", "Check out branch fix/cart-total and build it"),
    ("Remind me at 7:30 to call the dentist", "Remind me at 18:45 to call the dentist"),
    ('Find all files that contain "TODO: remove"', 'Find all files that contain "deprecated since 3.1"'),
    ("Refund the order of 12 May", "Please refund the order of 3 June"),
]
DIFFERENT_TUNED: list[Pair] = [
    ("Fix the bug in src/app/models.py", "Delete src/app/models.py"),
    ("Refund order 17", "Cancel order 17"),
    ("Deploy release v2.3.1 to staging", "Write release notes for v2.3.1"),
    (f"Summarise this text: {LONG}", f"Translate this text into Polish: {LONG}"),
    (
        "Download https://example.org/a/report.pdf and extract its tables",
        "Check whether https://example.org/a/report.pdf is online",
    ),
    ("Reset the password of ann@example.org", "Send a birthday card to ann@example.org"),
    ('Translate "good morning" into French', 'Count the letters in "good morning"'),
    ("Restart the service billing-7f9c4d", "Show the memory use of billing-7f9c4d"),
    ("Close ticket INC-20413", "Who opened INC-20413?"),
    ("Run the tests in tests/unit/test_store.py", "Format the code in tests/unit/test_store.py"),
    ("Book a table for 4 on 2026-05-01", "Book a flight for 4 on 2026-05-01"),
    ("Convert C:\\\\data\\\\in.csv to JSON", "Upload C:\\\\data\\\\in.csv to the archive"),
    ("Delete the user 550e8400-e29b-41d4-a716-446655440000", "Promote the user 550e8400-e29b-41d4-a716-446655440000"),
    ("Rename `getUser` to `fetchUser` everywhere", "Write a test for `getUser`"),
    ("Send the invoice for March to the client", "Archive the invoices of last year"),
]
DIFFERENT_UNTOUCHED: list[Pair] = [
    ("Add type hints to lib/parser/tokens.py", "Explain what lib/parser/tokens.py does"),
    ("Cancel booking QX81LM", "Upgrade booking QX81LM to first class"),
    ("Ping the server at 10.0.4.17", "Install updates on the server at 10.0.4.17"),
    (f"Proofread the following letter:\n\n{LONG}", f"Answer the following letter politely:\n\n{LONG}"),
    ("Migrate the database shop_prod_eu to version 41", "Back up the database shop_prod_eu"),
    ("Water the plants in room 12", "Paint the walls of room 12"),
    ("Read /etc/nginx/nginx.conf and tell me the open ports", "Restore /etc/nginx/nginx.conf from the backup"),
    ("Ship parcel 1Z999AA10123456784", "Where is parcel 1Z999AA10123456784 now?"),
    ("Explain the error `KeyError: 'id'`", "Write a poem about autumn"),
    ("Compress photos/2024/summer.zip", "List the photos in photos/2024/summer.zip"),
    ("Transfer 250 EUR to DE89370400440532013000", "Show the balance of DE89370400440532013000"),
    ("Check out branch feature/login-page and build it", "Delete branch feature/login-page"),
    ("Remind me at 7:30 to call the dentist", "What time is it in Tokyo at 7:30?"),
    ('Find all files that contain "TODO: remove"', 'Replace "TODO: remove" with "done" in all files'),
    ("Refund the order of 12 May", "What was ordered on 12 May?"),
]
