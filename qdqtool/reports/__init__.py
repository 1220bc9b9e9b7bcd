"""Result records as text and JSON: records in, output out; nothing is decided here."""
