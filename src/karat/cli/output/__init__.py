"""Output that several commands share: tables, progress, report and run files."""
